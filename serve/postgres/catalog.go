package postgres

import (
	"context"

	"github.com/discreet-dp/discreet/serve/gateway"
)

// A Catalog answers what clients ask about the database itself, from declarations alone.
type Catalog interface {
	// Answers says whether a statement is about the catalog. Such a statement never reaches
	// the gateway.
	Answers(sql string) bool
	Query(ctx context.Context, s CatalogSession, sql string, parameters []*string) (*CatalogRows, error)
	Describe(ctx context.Context, s CatalogSession, sql string, types []uint32) (columns []CatalogColumn, parameters []uint32, err error)
}

// A CatalogSession is what questions about the catalog can depend on.
type CatalogSession struct {
	Asker    gateway.Asker
	Database string
	Process  uint32
	Settings func(name string) (string, bool)
}

// A CatalogColumn is a column of an answer about the catalog.
type CatalogColumn struct {
	Name     string
	OID      uint32
	Modifier int32
}

// CatalogRows is an answer about the catalog: values are texts, nil for NULL.
type CatalogRows struct {
	Columns []CatalogColumn
	Rows    [][]*string
}

type noCatalog struct{}

func (noCatalog) Answers(string) bool { return false }
func (noCatalog) Query(context.Context, CatalogSession, string, []*string) (*CatalogRows, error) {
	return &CatalogRows{}, nil
}
func (noCatalog) Describe(context.Context, CatalogSession, string, []uint32) ([]CatalogColumn, []uint32, error) {
	return nil, nil, nil
}
