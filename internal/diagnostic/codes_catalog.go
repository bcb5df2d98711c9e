package diagnostic

// D080-D099: the catalog and the owner's commands.
var catalogEntries = []Entry{
	{
		Code:    "D080",
		Title:   "the catalog cannot be read",
		Explain: "The file is missing, is not UTF-8 or TOML, sets a key twice, or is larger or more deeply nested than a catalog may be. Nothing in it is used until all of it is understood.",
		Example: "[domains.patient\n",
	},
	{
		Code:    "D081",
		Title:   "unknown key",
		Explain: "A key that the catalog does not know might be a misspelt bound, and a bound that silently does not hold is worse than none. The hint names the nearest key that exists.",
		Example: "[domains.patient]\nmeasure = \"pure\"\nepsilon = 1.0\nneighbors = \"add-remove\"\n",
	},
	{
		Code:    "D082",
		Title:   "a value that is still to be decided",
		Explain: "`discreet init` marks with a question mark what it must not decide: types that it guessed from the data, and everything that needs judgement (the privacy unit, bounds, domains, the budget). Write a value in place of every \"?\". Take bounds from what you know of the subject, never from the extremes of the data: those are private.",
		Example: "[domains.patient]\nmeasure = \"pure\"\nepsilon = \"?\"\n",
	},
	{
		Code:    "D083",
		Title:   "a required key is missing",
		Explain: "A domain needs a measure and a budget. A table needs a source and columns and, unless it is public, a domain and a unit. A column needs a type.",
		Example: "[domains.patient]\nepsilon = 1.0\n",
	},
	{
		Code:    "D084",
		Title:   "a value of the wrong form",
		Explain: "The key exists but takes a value of another form: a string, a number, true or false, a table.",
		Example: "[domains.patient]\nmeasure = 3\nepsilon = 1.0\n",
	},
	{
		Code:    "D085",
		Title:   "a name that cannot be used",
		Explain: "Names of tables and columns are used exactly as they are written, like quoted names in SQL. A name must not be empty, contain control characters, or differ from another name in case alone; a table's name must not begin like an engine's own tables. The name of a domain stays in the ledger for good and must be a plain word.",
		Example: "[domains.\"the patients\"]\nmeasure = \"pure\"\nepsilon = 1.0\n",
	},
	{
		Code:    "D086",
		Title:   "a budget that cannot be used",
		Explain: "A budget is finite and above zero. Measure pure has an epsilon alone. All other measures need a delta below 1, and all but approx may say how much of delta is kept for private group selection (by default half). A number means exactly the decimal that is written.",
		Example: "[domains.patient]\nmeasure = \"pure\"\nepsilon = -1.0\n",
	},
	{
		Code:    "D087",
		Title:   "a source that cannot be used",
		Explain: "A source is one file, given relative to the catalog. Its ending tells its format: .csv, .parquet or .jsonl. A pattern such as visits/*.csv names several files of one format, each counted once. FILE.duckdb#TABLE names a table of a DuckDB file. With [engine], a source is a table of that database, as in \"public.visits\". A source belongs to exactly one domain, under one unit, and is either private or public, under every name and link by which it is declared. With also_in the owner says that its records are in a second domain too.",
		Example: "[tables.visits]\nsource = \"visits.xlsx\"\npublic = true\ncolumns.id = { type = \"bigint\" }\n",
	},
	{
		Code:    "D088",
		Title:   "a privacy unit that cannot be used",
		Explain: "The unit of a private table is one of three: a declared column of integers, text, dates, times or timestamps that is not a partition column; \"row\"; or { column, references }. All units of a domain have comparable types.",
		Example: "[domains.patient]\nmeasure = \"pure\"\nepsilon = 1.0\n[tables.visits]\nsource = \"visits.csv\"\ndomain = \"patient\"\nunit = \"patient\"\ncolumns.patient_id = { type = \"bigint\" }\n",
	},
	{
		Code:    "D089",
		Title:   "a reference that leads nowhere",
		Explain: "The reference of a unit names a column of another private table of the same domain and of a comparable type. Following the references must end at a table with a column that identifies the unit.",
		Example: "[domains.patient]\nmeasure = \"pure\"\nepsilon = 1.0\n[tables.bills]\nsource = \"bills.csv\"\ndomain = \"patient\"\nunit = { column = \"visit\", references = \"visits.id\" }\ncolumns.visit = { type = \"bigint\" }\n",
	},
	{
		Code:    "D090",
		Title:   "unknown type",
		Explain: "The types are boolean, smallint, integer, bigint, real, double, decimal(p,s), text, date, time, timestamp and interval.",
		Example: "[tables.departments]\nsource = \"departments.csv\"\npublic = true\ncolumns.name = { type = \"txt\" }\n",
	},
	{
		Code:    "D091",
		Title:   "bounds that cannot be used",
		Explain: "A column of numbers, dates or times has both bounds or none. Its type must hold both values exactly, and the lower must not be above the upper. The same holds for sum_lower and sum_upper, which need lower and upper beside them.",
		Example: "[domains.person]\nmeasure = \"pure\"\nepsilon = 1.0\n[tables.people]\nsource = \"people.csv\"\ndomain = \"person\"\nunit = \"row\"\ncolumns.age = { type = \"integer\", lower = 0 }\n",
	},
	{
		Code:    "D092",
		Title:   "a public domain that cannot be used",
		Explain: "A public domain lists distinct values of the column's type, or steps from lower to upper, or takes the values of a public table's column of the same type. It has at most a million values, because an answer has a row for each.",
		Example: "[domains.person]\nmeasure = \"pure\"\nepsilon = 1.0\n[tables.people]\nsource = \"people.csv\"\ndomain = \"person\"\nunit = \"row\"\ncolumns.sex = { type = \"text\", domain = [\"female\", \"male\", \"male\"] }\n",
	},
	{
		Code:    "D093",
		Title:   "a public table with private settings",
		Explain: "A public table has no unit, no domain of units, no bounds on what a unit contributes and no budget. A table with some of them is probably meant to be private. Its columns may have lower and upper.",
		Example: "[tables.departments]\nsource = \"departments.csv\"\npublic = true\nunit = \"name\"\ncolumns.name = { type = \"text\" }\n",
	},
	{
		Code:    "D094",
		Title:   "a contribution bound that cannot be used",
		Explain: "max_groups_per_unit, max_rows_per_group and max_rows_per_unit are whole numbers from 1 to 2147483648. Where each row is a unit, all are 1: leave them out. max_rows_per_unit is for a table in files that has the unit in a column of its own.",
		Example: "[domains.person]\nmeasure = \"pure\"\nepsilon = 1.0\n[tables.people]\nsource = \"people.csv\"\ndomain = \"person\"\nunit = \"row\"\nmax_rows_per_group = 2\ncolumns.age = { type = \"integer\" }\n",
	},
	{
		Code:    "D095",
		Title:   "a catalog exists already",
		Explain: "`discreet init` never overwrites a file: a catalog holds decisions that cannot be proposed again.",
		Example: "discreet init visits.csv, a second time",
	},
	{
		Code:    "D096",
		Title:   "a file from which no catalog can be proposed",
		Explain: "`discreet init` reads .csv, .parquet, .jsonl and .duckdb files. FILE.duckdb#TABLE names one table; a folder, or a pattern in quotes, names files of one kind that make one table. The first record of a CSV file must name its columns. With --engine, it reads the names and types of a database's tables.",
		Example: "discreet init visits.xlsx",
	},
	{
		Code:    "D097",
		Title:   "the files are not as the catalog says",
		Explain: "`discreet check` found something that makes statements fail or see nothing: a file that is missing or lacks a declared column, or rows that no unit owns. Its report names it, for the owner alone. `discreet ledger create` refuses two more things. The first is a column of which no value can be read as its type, because statements would be charged for NULL: declare in [tables.NAME.csv] how the file is written, or declare the type that the column has, or pass --unread if it is as it should be. The second is a column of a Parquet file whose values stop the engine's reader, because the first statement over it would suspend the domain: write the file anew. A server refuses a catalog that declares no table, as it may have been read while it was being written, and keeps the one that it serves.",
		Example: "discreet check",
	},
	{
		Code:    "D098",
		Title:   "the ledger exists already",
		Explain: "A budget is given out once. `discreet ledger create` never replaces a ledger, because that would give out again what has been spent.",
		Example: "discreet ledger create",
	},
	{
		Code:    "D099",
		Title:   "a file that others can change",
		Explain: "Whoever can change the catalog, the ledger, its anchor or its key decides what is protected. So these files are refused if the group or others may write to them, or to a folder on the way to them (unless it is sticky, as /tmp is). A key that group or others may read is refused too, as ssh does. Where somebody runs the command with the owner's rights, as by sudo, a file or folder that belongs to neither root nor the owner is refused as well.",
		Example: "discreet query --rho 0.01 'SELECT count(*) FROM visits'",
	},
	{
		Code:    "D104",
		Title:   "a derived column that cannot be computed",
		Explain: "A derived column has a type and `is`: one expression over the columns of its own row, as it would stand between SELECT and FROM. It can use declared columns by their names and types, and other columns of the source as text. It may use other derived columns, but not itself, directly or through them; its own name means the source's column. It has no `from`. Faults within the expression have the codes of statements.",
		Example: "[tables.visits]\nsource = \"visits.csv\"\npublic = true\ncolumns.cost = { type = \"double\", from = \"Cost\", is = \"cost::double precision\" }\n",
	},
	{
		Code:    "D105",
		Title:   "a view that cannot be asked",
		Explain: "A view has `sql`: one query over tables and other views of the catalog. It means the same as its text as a subquery: it costs the same, and what is refused there is refused here, when the catalog is read. It must not select from itself, directly or through other views. Its columns have the bounds and domains that follow from the columns that it selects; `columns` declares others, for columns that the query has, with the types that they have there.",
		Example: "[tables.wards]\nsource = \"wards.csv\"\npublic = true\ncolumns.name = { type = \"text\" }\n[views.large]\nsql = \"\"\n",
	},
}
