// The page that asks: an editor in the place of the text area, and explanations while somebody
// types. Without this script the form works as it stands.

import {EditorView, minimalSetup} from "codemirror"
import {keymap, placeholder} from "@codemirror/view"
import {syntaxHighlighting} from "@codemirror/language"
import {classHighlighter} from "@lezer/highlight"
import {autocompletion, completeFromList, closeBrackets} from "@codemirror/autocomplete"
import {PostgreSQL, schemaCompletionSource} from "@codemirror/lang-sql"

const form = document.getElementById("ask")
const area = form.elements.sql
const explanation = document.getElementById("explanation")
const ask = form.querySelector("button.primary")

// What this server has rendered may become markup, and nothing else.
const rendered = window.trustedTypes
  ? trustedTypes.createPolicy("discreet", {createHTML: text => text})
  : {createHTML: text => text}

// Explaining is free: it is done when nothing was typed for a moment.
const pause = 150
let timer, running

function changed() {
  clearTimeout(timer)
  timer = setTimeout(explain, pause)
}

async function explain() {
  running?.abort()
  if (!area.value.trim()) {
    explanation.replaceChildren()
    return
  }
  const mine = running = new AbortController()
  try {
    const answer = await fetch("/ask/explain", {method: "POST", body: new URLSearchParams(new FormData(form)), signal: mine.signal, redirect: "manual"})
    if (answer.type === "opaqueredirect" || answer.status === 403) {
      tell("Your session has ended. Sign in again in another window, and load this page again: copy what you wrote first.")
      return
    }
    const text = await answer.text()
    if (mine !== running) return
    const open = explanation.querySelector("details")?.open
    explanation.innerHTML = rendered.createHTML(text)
    const details = explanation.querySelector("details")
    if (open && details) details.open = true
    explanation.dataset.of = area.value
  } catch (problem) {
    if (problem.name !== "AbortError") tell("The server does not answer.")
  }
}

function tell(words) {
  const notice = document.createElement("p")
  notice.className = "notice wait"
  notice.textContent = words
  explanation.replaceChildren(notice)
}

// Names that are not plain are written in quotes.
const written = name => /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`

function proposals() {
  const {tables, aggregates, functions} = JSON.parse(document.getElementById("completion").textContent)
  const schema = {}, columns = new Map()
  for (const [table, of] of Object.entries(tables)) {
    schema[table] = of.map(c => ({label: c.label, detail: c.detail, type: "property", apply: written(c.label)}))
    for (const c of schema[table]) columns.set(c.label, {...c, detail: c.detail + ", " + table, boost: 2})
  }
  const call = (kind, boost) => name => ({label: name, type: "function", detail: kind, boost, apply: name + "("})
  return {schema, words: [...new Set(keywords)].map(label => ({label, type: "keyword", boost: -1})).concat([...columns.values(), ...aggregates.map(call("aggregate", 1)), ...functions.map(call("function", 0))])}
}

function submit() {
  form.requestSubmit(ask)
  return true
}

// What is read of SQL here; the dialect's own list has hundreds that are refused.
const keywords = ("SELECT DISTINCT FROM WHERE GROUP BY HAVING ORDER BY LIMIT OFFSET AS AND OR NOT IN IS NULL LIKE ILIKE BETWEEN CASE WHEN THEN ELSE END CAST " +
  "JOIN LEFT INNER CROSS FULL RIGHT ON USING UNION ALL WITH OVER PARTITION FILTER EXTRACT INTERVAL DATE TIMESTAMP TRUE FALSE ASC DESC NULLS FIRST LAST").split(" ")

const {schema, words} = proposals()
const editor = new EditorView({
  doc: area.value,
  extensions: [
    keymap.of([{key: "Mod-Enter", run: submit}]),
    minimalSetup,
    closeBrackets(),
    autocompletion({icons: false}),
    PostgreSQL.language,
    PostgreSQL.language.data.of({autocomplete: schemaCompletionSource({dialect: PostgreSQL, schema})}),
    PostgreSQL.language.data.of({autocomplete: completeFromList(words)}),
    syntaxHighlighting(classHighlighter),
    placeholder(area.placeholder),
    EditorView.lineWrapping,
    EditorView.cspNonce.of(document.querySelector("script[data-nonce]").dataset.nonce),
    EditorView.contentAttributes.of({"aria-label": "Statement (SQL)", spellcheck: "false", autocapitalize: "none", autocorrect: "off"}),
    EditorView.updateListener.of(update => {
      if (!update.docChanged) return
      area.value = update.state.doc.toString()
      changed()
    }),
  ],
})
area.before(editor.dom)
area.hidden = true
area.required = false
form.querySelector("label[for=sql]").addEventListener("click", () => editor.focus())
form.addEventListener("input", event => {
  if (event.target.name) changed()
})
form.addEventListener("submit", event => {
  clearTimeout(timer)
  if (event.submitter === ask) ask.textContent = "Asking …"
})
addEventListener("pageshow", () => { ask.textContent = "Ask" })

const answer = document.getElementById("answer")
if (answer) answer.focus({preventScroll: false})
else editor.focus()
