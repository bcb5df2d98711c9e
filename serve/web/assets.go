package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/plot"
)

//go:embed assets/*
var assetFiles embed.FS

const assetsPath = "/assets/"

// assets are what pages are made of beside their text, by name. Each is also at an address
// with a digest of it, under which browsers may keep it.
type assets map[string]asset

type asset struct {
	text   []byte
	packed []byte // by gzip; nil of what lies here as it is
	media  string
	digest string
}

func readAssets() (assets, error) {
	files, err := assetFiles.ReadDir("assets")
	if err != nil {
		return nil, fmt.Errorf("read assets: %w", err)
	}
	all := assets{}
	all.add("plot.css", []byte(plot.Stylesheet("figure svg")), nil)
	for _, f := range files {
		text, err := assetFiles.ReadFile("assets/" + f.Name())
		if err != nil {
			return nil, fmt.Errorf("read assets: %w", err)
		}
		name, isPacked := strings.CutSuffix(f.Name(), ".gz")
		var packed []byte
		if isPacked {
			packed = text
			if text, err = unpack(packed); err != nil {
				return nil, fmt.Errorf("read asset %s: %w", f.Name(), err)
			}
		}
		all.add(name, text, packed)
	}
	return all, nil
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// media are the kinds of assets. What has another ending is not served.
var media = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8",
}

func (a assets) add(name string, text, packed []byte) {
	sum := sha256.Sum256(text)
	if m := media[path.Ext(name)]; m != "" {
		a[name] = asset{text, packed, m, base64.RawURLEncoding.EncodeToString(sum[:12])}
	}
}

// address is where a page finds an asset.
func (a assets) address(name string) (string, error) {
	one, is := a[name]
	if !is {
		return "", fmt.Errorf("there is no asset %s", name)
	}
	return "/assets/" + one.digest + "/" + name, nil
}

// ServeHTTP serves the assets: names that were read, and no paths.
func (a assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	digest, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/assets/"), "/")
	one, is := a[name]
	if !is || one.digest != digest || r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "there is no such asset", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", one.media)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Del("Vary")
	text := one.text
	if one.packed != nil {
		w.Header().Set("Vary", "Accept-Encoding")
		if acceptsGzip(r.Header.Get("Accept-Encoding")) {
			w.Header().Set("Content-Encoding", "gzip")
			text = one.packed
		}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// acceptsGzip reads an Accept-Encoding (RFC 9110, 12.5.3) strictly: gzip by name, and not
// with the weight 0.
func acceptsGzip(accepted string) bool {
	for one := range strings.SplitSeq(accepted, ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(one), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return strings.Trim(strings.TrimSpace(weight), "qQ=0. ") != "" || strings.TrimSpace(weight) == ""
		}
	}
	return false
}
