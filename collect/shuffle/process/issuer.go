package process

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/shuffle"
)

// An enrolment names digests of codes, one for each respondent.
type enrolment struct {
	Codes []string `json:"codes"`
}

// A signing asks for the two tokens of a respondent: what is blinded for each shuffler.
type signing struct {
	Code    string    `json:"code"`
	Blinded [2][]byte `json:"blinded"`
}

// signatures are the issuer's answer; Problem is why there are none.
type signatures struct {
	Signed  [2][]byte `json:"signed"`
	Problem string    `json:"problem,omitempty"`
}

const (
	maxEnrolment = 100_000
	maxSignings  = 1000
)

// issuer signs two tokens for each respondent who is enrolled, one for each shuffler, and sees
// neither of them. It tells all respondents the same keys of readers.
func issuer(ctx context.Context, s *cluster.Station) error {
	p, err := protocol(s)
	if err != nil {
		return err
	}
	private, err := tokenKey(s)
	if err != nil {
		return err
	}
	// What was asked is kept as a digest, so that a respondent who asks again for the same is
	// answered the same, and one who asks for other tokens is refused.
	db, err := database(ctx, s, "CREATE TABLE IF NOT EXISTS enrolled (code BLOB PRIMARY KEY, asked BLOB) WITHOUT ROWID")
	if err != nil {
		return err
	}
	defer db.Close()
	public := hex.EncodeToString(x509.MarshalPKCS1PublicKey(&private.PublicKey))
	var known atomic.Pointer[map[string]string]
	m := http.NewServeMux()
	m.HandleFunc("GET /readers", func(w http.ResponseWriter, _ *http.Request) {
		if all := known.Load(); all != nil {
			answer(w, *all)
			return
		}
		cluster.Refuse(w, http.StatusServiceUnavailable, "unavailable", "not all readers have told their keys")
	})
	m.HandleFunc("GET /key", func(w http.ResponseWriter, _ *http.Request) { answer(w, key{Issuer: public, Digest: digest(p)}) })
	m.Handle("POST /enrol", cluster.Only(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, ok := body(w, r, 80*maxEnrolment)
		if !ok {
			return
		}
		var e enrolment
		if json.Unmarshal(b, &e) != nil || len(e.Codes) > maxEnrolment {
			cluster.Refuse(w, http.StatusBadRequest, "invalidMessage", "no enrolment")
			return
		}
		if err := in(r.Context(), db, func(tx *sql.Tx) error {
			for _, code := range e.Codes {
				if _, err := tx.ExecContext(r.Context(), "INSERT OR IGNORE INTO enrolled (code) VALUES (?)", code); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			failed(w, s, err)
			return
		}
		answer(w, map[string]int{"enrolled": len(e.Codes)})
	}), Owner))
	m.Handle("POST /sign", cluster.Only(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, ok := body(w, r, 2048*maxSignings)
		if !ok {
			return
		}
		var all []signing
		if json.Unmarshal(b, &all) != nil || len(all) > maxSignings {
			cluster.Refuse(w, http.StatusBadRequest, "invalidMessage", "no requests for signatures")
			return
		}
		out := make([]signatures, len(all))
		if err := in(r.Context(), db, func(tx *sql.Tx) error {
			for i, one := range all {
				var err error
				if out[i].Problem, err = admit(r.Context(), tx, one); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			failed(w, s, err)
			return
		}
		each(len(all), func(i int) {
			for by := range all[i].Blinded {
				if out[i].Problem != "" {
					return
				}
				var err error
				if out[i].Signed[by], err = shuffle.SignBlinded(private, all[i].Blinded[by]); err != nil {
					out[i] = signatures{Problem: "invalidMessage"}
				}
			}
		})
		answer(w, out)
	}), Client))
	// Readers ask for the issuer's key before they are ready, so that it serves while it asks them.
	return beside(ctx, func(ctx context.Context) error { return s.Serve(ctx, m) }, func(ctx context.Context) error {
		all, err := knownReaders(ctx, s, p)
		if err != nil {
			return ended(ctx, err)
		}
		known.Store(&all)
		<-ctx.Done()
		return nil
	})
}

// CodeDigest is what the issuer knows of a respondent's code.
func CodeDigest(code string) string {
	d := sha256.Sum256([]byte("discreet enrolment 1\x00" + code))
	return hex.EncodeToString(d[:])
}

// admit says why a respondent is not given these signatures; "" where he is.
func admit(ctx context.Context, tx *sql.Tx, one signing) (problem string, err error) {
	d := sha256.New()
	for _, b := range one.Blinded {
		if len(b) != shuffle.TokenBits/8 {
			return "invalidMessage", nil
		}
		d.Write(b)
	}
	asked, code := d.Sum(nil), CodeDigest(one.Code)
	var before []byte
	err = tx.QueryRowContext(ctx, "SELECT asked FROM enrolled WHERE code = ?", code).Scan(&before)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "notEnrolled", nil
	case err != nil:
		return "", err
	case before == nil:
		_, err = tx.ExecContext(ctx, "UPDATE enrolled SET asked = ? WHERE code = ?", asked, code)
		return "", err
	case !bytes.Equal(before, asked):
		return "tokenIssued", nil
	}
	return "", nil
}
