package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/display"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/people"
)

//go:embed templates/*.html
var templateFiles embed.FS

// readTemplates reads layout.html once for each page's template. Every value goes into
// them through package html/template, which escapes it for the place where it stands.
func (s *site) readTemplates() (map[string]*template.Template, error) {
	layout, err := template.New("layout.html").Funcs(template.FuncMap{
		"asset":   s.assets.address,
		"shown":   people.Shown,
		"short":   short,
		"percent": display.Percent,
		"list":    func(words ...string) []string { return words },
		"time":    func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") },
		"stamp":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	}).ParseFS(templateFiles, "templates/layout.html")
	if err != nil {
		return nil, fmt.Errorf("read templates: %w", err)
	}
	files, err := templateFiles.ReadDir("templates")
	if err != nil {
		return nil, fmt.Errorf("read templates: %w", err)
	}
	all := map[string]*template.Template{}
	for _, f := range files {
		one, err := layout.Clone()
		if err == nil {
			one, err = one.ParseFS(templateFiles, "templates/"+f.Name())
		}
		if err != nil {
			return nil, fmt.Errorf("read template %s: %w", f.Name(), err)
		}
		all[strings.TrimSuffix(f.Name(), path.Ext(f.Name()))] = one
	}
	return all, nil
}

// A sheet is what a template is given.
type sheet struct {
	Title   string
	Token   string // that every form carries
	Nonce   string // that makes a style sheet of the editor this server's
	Once    string // that every form carries which counts once
	Account string // "" of who has not signed in
	Owner   bool
	Words   []word
	Script  string
	Message string // of what was done before
	Data    any
}

// A word is a page in the navigation.
type word struct {
	Path, Word string
	Here       bool
}

// show shows a page.
func (v *visit) show(status int, name, title string, data any) error {
	nonce, err := random()
	if err != nil {
		return err
	}
	once, err := random()
	if err != nil {
		return err
	}
	s := sheet{Title: title, Token: v.token(), Nonce: nonce, Once: once, Script: v.page.script, Data: data}
	if v.session != nil {
		s.Account, s.Owner, s.Message = v.who.Account.Name, v.who.Account.Role == people.Owner, v.sessions.take(v.session)
	}
	for _, p := range v.navigation() {
		here := p.path == v.page.path || strings.HasPrefix(v.page.path, p.path+"/")
		s.Words = append(s.Words, word{strings.TrimSuffix(p.path, "{$}"), p.word, here})
	}
	text, err := v.render(name, "layout.html", s)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Security-Policy", policy(nonce))
	v.write(status, text)
	return nil
}

// part shows a part of a page, which a script puts into it.
func (v *visit) part(status int, name, part string, data any) error {
	text, err := v.render(name, part, data)
	if err != nil {
		return err
	}
	v.write(status, text)
	return nil
}

// render renders before anything is sent: a template that fails leaves no half of a page.
func (v *visit) render(name, part string, data any) ([]byte, error) {
	t := v.templates[name]
	if t == nil {
		return nil, fmt.Errorf("show page: there is no template %s", name)
	}
	var page bytes.Buffer
	if err := t.ExecuteTemplate(&page, part, data); err != nil {
		return nil, fmt.Errorf("show page: %w", err)
	}
	return page.Bytes(), nil
}

func (v *visit) write(status int, text []byte) {
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	if v.r.Method != http.MethodHead {
		_, _ = v.w.Write(text) // who has gone is told nothing
	}
}

// figure puts a drawing on a page: its text is escaped by package plot, and its styles are
// those of assets/plot.css.
func figure(d plot.Drawing) (template.HTML, error) {
	svg, err := plot.Inline(d)
	return template.HTML(svg), err //nolint:gosec // package plot escapes what it draws
}
