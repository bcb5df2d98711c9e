// The pages that compute from a form without private data: what they find, while somebody
// types. Without this script the form works as it stands.

const form = document.querySelector("form[data-live]")
const results = document.getElementById("results")
const wrong = document.getElementById("wrong")

// What this server has rendered may become markup, and nothing else.
const rendered = window.trustedTypes
  ? trustedTypes.createPolicy("discreet", {createHTML: text => text})
  : {createHTML: text => text}

// It is asked when nothing was typed for a moment.
const pause = 300
let timer, running

function later(milliseconds, patience) {
  clearTimeout(timer)
  timer = setTimeout(compute, milliseconds, patience)
}

async function compute(patience) {
  running?.abort()
  if (!form.checkValidity()) return // something is still to be written
  const mine = running = new AbortController()
  const address = new URL(form.action)
  address.search = new URLSearchParams(new FormData(form))
  results.setAttribute("aria-busy", "true")
  try {
    const answer = await fetch(address, {signal: mine.signal, redirect: "manual"})
    const text = await answer.text()
    if (mine !== running) return
    if (answer.status === 429 && patience > 0) { // what was asked before has not ended yet
      later(2 * pause, patience - 1)
      return
    }
    const page = new DOMParser().parseFromString(rendered.createHTML(text), "text/html")
    const found = page.getElementById("results")
    if (answer.type === "opaqueredirect" || !found) {
      tell(answer.status === 429 ? "Too much is asked at once: send the form again in a moment." : "Your session has ended, or the page is gone: load this page again.")
      return
    }
    wrong.replaceChildren(...page.getElementById("wrong").childNodes)
    for (const field of page.querySelectorAll("form[data-live] [name]")) {
      form.elements[field.name]?.toggleAttribute?.("aria-invalid", field.hasAttribute("aria-invalid"))
    }
    if (!answer.ok && !found.hasChildNodes()) return // what was found before stands until there is something else
    const open = [...results.querySelectorAll("details[open] > summary")].map(s => s.textContent)
    results.replaceChildren(...found.childNodes)
    for (const summary of results.querySelectorAll("details > summary")) {
      if (open.includes(summary.textContent)) summary.parentElement.open = true
    }
    history.replaceState(null, "", address)
  } catch (problem) {
    if (problem.name !== "AbortError") tell("The server does not answer.")
  } finally {
    if (mine === running) results.removeAttribute("aria-busy")
  }
}

function tell(words) {
  const notice = document.createElement("p")
  notice.className = "notice wait"
  notice.textContent = words
  wrong.replaceChildren(notice)
}

form.addEventListener("input", event => {
  if (event.target.dataset.fields === undefined) later(pause, 5)
})
form.addEventListener("change", event => { // another choice has other fields
  if (event.target.dataset.fields !== undefined) form.requestSubmit()
})
form.addEventListener("submit", () => {
  clearTimeout(timer)
  running?.abort()
})
