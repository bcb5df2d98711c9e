package diagnostic

// D080-D099: the catalog and the owner's commands.
var catalogEntries = []Entry{
	{
		Code:    "D080",
		Title:   "the catalog cannot be read",
		Explain: "The file is not there, is not UTF-8, is not TOML, sets a key twice, or is larger or more deeply nested than a catalog can be. Nothing in it is used until all of it is understood.",
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
		Title:   "undecided",
		Explain: "`discreet init` marks with a question mark what it must not decide: types that it guessed from the data, and whatever is a judgement (the privacy unit, bounds, domains, the budget). Write a value in place of every \"?\"; bounds come from what you know of the subject, never from the extremes of the data, which are private.",
		Example: "[domains.patient]\nmeasure = \"pure\"\nepsilon = \"?\"\n",
	},
	{
		Code:    "D083",
		Title:   "a required key is missing",
		Explain: "A domain needs a measure and its budget; a table needs a source and columns, and unless it is public a domain and a unit; a column needs a type.",
		Example: "[domains.patient]\nepsilon = 1.0\n",
	},
	{
		Code:    "D084",
		Title:   "a value of the wrong form",
		Explain: "The key exists but wants another form of value: a string, a number, true or false, a table.",
		Example: "[domains.patient]\nmeasure = 3\nepsilon = 1.0\n",
	},
	{
		Code:    "D085",
		Title:   "a name that cannot be used",
		Explain: "Names of tables and columns stand as they are written, as quoted names do in SQL. They must not be empty, contain control characters, differ from another in case alone, or (tables) begin as an engine's own tables do. The id of a domain stands in the ledger for good and is a plain word.",
		Example: "[domains.\"the patients\"]\nmeasure = \"pure\"\nepsilon = 1.0\n",
	},
	{
		Code:    "D086",
		Title:   "a budget that means nothing",
		Explain: "A budget is finite and above zero. Measure pure has an epsilon alone; all others need a delta below 1; all but approx may say how much of delta is kept for private group selection (default half). A number means the decimal that is written.",
		Example: "[domains.patient]\nmeasure = \"pure\"\nepsilon = -1.0\n",
	},
	{
		Code:    "D087",
		Title:   "a source that cannot be used",
		Explain: "A source is one file, relative to the catalog, whose ending tells its format: .csv, .parquet, .jsonl, or several of one format by a pattern such as visits/*.csv, each matched once, or a table of a DuckDB file as FILE.duckdb#TABLE. It belongs to exactly one unit domain, under one unit, and is either private or public, by whatever name or link it is declared; that its records are in a second domain is the owner's word, also_in.",
		Example: "[tables.visits]\nsource = \"visits.xlsx\"\npublic = true\ncolumns.id = { type = \"bigint\" }\n",
	},
	{
		Code:    "D088",
		Title:   "a privacy unit that cannot be used",
		Explain: "The unit of a private table is a declared column of integers, text, dates, times or timestamps that is no partition, or \"row\", or { column, references }. Within a domain all units have comparable types.",
		Example: "[domains.patient]\nmeasure = \"pure\"\nepsilon = 1.0\n[tables.visits]\nsource = \"visits.csv\"\ndomain = \"patient\"\nunit = \"patient\"\ncolumns.patient_id = { type = \"bigint\" }\n",
	},
	{
		Code:    "D089",
		Title:   "a reference that leads nowhere",
		Explain: "A unit's reference names a column of another private table of the same domain, of a comparable type, and following references must end at a table with a column that identifies the unit.",
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
		Explain: "A column of numbers, dates or times is bounded on both sides or not at all, by values that its type holds exactly, the lower not above the upper. sum_lower and sum_upper likewise, beside lower and upper.",
		Example: "[domains.person]\nmeasure = \"pure\"\nepsilon = 1.0\n[tables.people]\nsource = \"people.csv\"\ndomain = \"person\"\nunit = \"row\"\ncolumns.age = { type = \"integer\", lower = 0 }\n",
	},
	{
		Code:    "D092",
		Title:   "a public domain that cannot be used",
		Explain: "A public domain lists distinct values of the column's type, or steps from lower to upper, or takes the values of a column of a public table of the same type. It has at most a million values: an answer has a row for each.",
		Example: "[domains.person]\nmeasure = \"pure\"\nepsilon = 1.0\n[tables.people]\nsource = \"people.csv\"\ndomain = \"person\"\nunit = \"row\"\ncolumns.sex = { type = \"text\", domain = [\"female\", \"male\", \"male\"] }\n",
	},
	{
		Code:    "D093",
		Title:   "a public table with private settings",
		Explain: "What is public has no unit, no domain of units, no bounds and no budget. A table with some of them is probably meant to be private.",
		Example: "[tables.departments]\nsource = \"departments.csv\"\npublic = true\nunit = \"name\"\ncolumns.name = { type = \"text\" }\n",
	},
	{
		Code:    "D094",
		Title:   "a contribution bound that cannot be used",
		Explain: "max_groups_per_unit and max_rows_per_group are whole numbers from 1 to 2147483648. Where each row is a unit both are 1 and left out.",
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
		Explain: "`discreet init` reads .csv, .parquet, .jsonl and .duckdb files, one table as FILE.duckdb#TABLE, or a folder or a pattern in quotes, which are one table of files of one kind. A CSV file's first record names its columns.",
		Example: "discreet init visits.xlsx",
	},
	{
		Code:    "D097",
		Title:   "the files are not as the catalog says",
		Explain: "`discreet check` found something that makes statements fail or see nothing: a file that is missing or lacks a declared column, or rows that no unit owns. Its report says what, for the owner alone. `discreet ledger create` refuses a column of which no value can be read as its type, since statements would be charged for NULL: declare how the file is written in [tables.NAME.csv], or the type that the column has; --unread says that it is as it should be. So it refuses a column of a Parquet file whose values stop the engine's reader, since the first statement over it would suspend the domain: write the file anew.",
		Example: "discreet check",
	},
	{
		Code:    "D098",
		Title:   "the ledger exists already",
		Explain: "A budget is given out once. `discreet ledger create` never replaces a ledger, since that would give out again what has been spent.",
		Example: "discreet ledger create",
	},
	{
		Code:    "D099",
		Title:   "a file that others can change",
		Explain: "Whoever can change the catalog, the ledger, its anchor or its key decides what is protected. So a file of these is refused that group or others may write to, or that lies in a folder, or on a way of folders, that they may write to (unless it is sticky, as /tmp is), and a key that they may read; as ssh refuses a key. Where somebody runs the command with the owner's rights, as by sudo, so is a file or folder that neither root nor the owner owns.",
		Example: "discreet query --rho 0.01 'SELECT count(*) FROM visits'",
	},
	{
		Code:    "D104",
		Title:   "a derived column that cannot be computed",
		Explain: "A derived column has a type and `is`, one expression over the columns of its own row, as it would stand between SELECT and FROM: declared columns by their names and types, and other columns of the source as text. It may use other derived columns, but not, by way of them, itself; its own name stands for the source's column. It has no `from`. What is wrong within the expression is refused with the codes of statements.",
		Example: "[tables.visits]\nsource = \"visits.csv\"\npublic = true\ncolumns.cost = { type = \"double\", from = \"Cost\", is = \"cost::double precision\" }\n",
	},
	{
		Code:    "D105",
		Title:   "a view that cannot be asked",
		Explain: "A view has `sql`, one query over tables and other views of the catalog, and means what its text would mean as a subquery: it costs the same, and what would be refused there is refused here, when the catalog is read. It does not, by way of others, select from itself. Bounds and domains are those of the columns that it selects.",
		Example: "[tables.wards]\nsource = \"wards.csv\"\npublic = true\ncolumns.name = { type = \"text\" }\n[views.large]\nsql = \"\"\n",
	},
}
