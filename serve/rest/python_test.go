//go:build cgo

package rest_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
	"github.com/discreet-dp/discreet/serve/rest"
)

// The package clients/python, tested against a server by its own tests.
func TestPython(t *testing.T) { python(t, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests") }

// The notebook of examples/ is executed, and none of its cells fails.
func TestNotebook(t *testing.T) {
	notebook, err := filepath.Abs("../../examples/notebook/clinic.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	python(t, "-c", `
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
text = str(notebook)
assert "visits_low" in text and "image/png" in text, text
`, notebook)
}

// The Python of docs/clients.md runs as it stands.
func TestPage(t *testing.T) {
	page, err := filepath.Abs("../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	python(t, "-c", `
import re, sys, matplotlib
matplotlib.use("Agg")
blocks = re.findall(r"^`+"```python\\n(.*?)^```"+`", open(sys.argv[1]).read(), re.S | re.M)
assert len(blocks) == 3, blocks
names = {}
for block in blocks:
    exec(block, names)
assert names["r"].cost.rho and list(names["frame"].columns)[1:3] == ["visits", "visits_low"]
`, page)
}

// python runs the interpreter that 'bench/peers/setup clients' makes, in clients/python, as
// anna's.
func python(t *testing.T, arguments ...string) {
	t.Helper()
	interpreter, err := filepath.Abs("../../bench/peers/venv-clients/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	const all = "import sys, importlib.util as u; sys.exit(None in map(u.find_spec, 'httpx pandas polars matplotlib IPython nbclient ipykernel pytest mypy'.split()))"
	if err := exec.CommandContext(t.Context(), interpreter, "-c", all).Run(); err != nil {
		t.Skip("skip: the clients' Python is not installed; 'bench/peers/setup clients' installs it")
	}
	w := gatewaytest.Open(t, t.TempDir())
	token, err := w.People.AddToken(t.Context(), "test", gatewaytest.Analyst.Name, "notebook", gatewaytest.Noon.AddDate(1, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rest.New(rest.Options{Gateway: w.Gateway, SignIn: w.People.SignInToken}))
	defer server.Close()
	source, err := filepath.Abs("../../clients/python/src")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), interpreter, arguments...)
	c.Dir = "../../clients/python"
	c.Env = append(os.Environ(), "DISCREET_URL="+server.URL, "DISCREET_TOKEN="+token, "PYTHONPATH="+source, "PYTHONDONTWRITEBYTECODE=1",
		"IPYTHONDIR="+t.TempDir(), "MPLCONFIGDIR="+t.TempDir(), "JUPYTER_RUNTIME_DIR="+t.TempDir())
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
