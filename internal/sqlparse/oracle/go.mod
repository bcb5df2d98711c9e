module github.com/discreet-dp/discreet/internal/sqlparse/oracle

go 1.26.0

require (
	github.com/discreet-dp/discreet v0.0.0
	github.com/pganalyze/pg_query_go/v6 v6.2.5
	github.com/sqlc-dev/oliphant v0.2.0
	google.golang.org/protobuf v1.36.12
)

replace github.com/discreet-dp/discreet => ../../..
