package web

import "net/http"

// restrict says what a browser may do with what this server sends: nothing but what comes
// from this server, and nowhere but at the top of a window. show adds to the policy what a
// page needs.
func restrict(h http.Header, secure bool) {
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	// Not "no-referrer": a form would then come from the origin "null", which is refused.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Cookie")
	if secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// policy is what a page may do: nonce is for the style sheets that the editor makes.
// Scripts may write no markup but what the policy "discreet" passes, which ask.js makes for
// what this server has rendered.
func policy(nonce string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-" + nonce + "'; img-src 'self'; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types discreet"
}
