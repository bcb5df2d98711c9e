# Asks the server under test through R's clients. Usage: clients.R HOST PORT PASSWORD
#
# RPostgres where Debian has it (from its version 13), RPostgreSQL as well: both stand on libpq
# and DBI, the first with prepared statements, the second with simple ones.

args <- commandArgs(trailingOnly = TRUE)
options(warn = 2)
Sys.setenv(PGOPTIONS = "-c discreet.rho=0.0001")
grouped <- "SELECT department, count(*) AS visits, avg(cost) AS cost FROM visits GROUP BY department ORDER BY department"

check <- function(what, got, want) {
  if (!isTRUE(all.equal(got, want))) stop(what, ": ", deparse(got), ", not ", deparse(want))
}

ask <- function(name) {
  driver <- if (name == "RPostgres") RPostgres::Postgres() else RPostgreSQL::PostgreSQL()
  c <- DBI::dbConnect(driver, host = args[1], port = as.integer(args[2]), user = "anna", password = args[3], dbname = "discreet")
  frame <- DBI::dbGetQuery(c, grouped)
  check("groups", dim(frame), c(8L, 3L))
  check("columns", names(frame), c("department", "visits", "cost"))
  check("a noisy mean is a number", is.numeric(frame$cost), TRUE)
  types <- DBI::dbGetQuery(c, "SELECT true AS a, 2::int AS b, 2.5::double precision AS c, 1.25::decimal(5,2) AS d, 'x' AS e, DATE '2024-02-29' AS f, NULL::text AS g")
  check("types", list(types$a, as.integer(types$b), types$c, as.numeric(types$d), types$e, as.Date(types$f), is.na(types$g)),
        list(TRUE, 2L, 2.5, 1.25, "x", as.Date("2024-02-29"), TRUE))
  check("tables", sort(setdiff(DBI::dbListTables(c), c("budget", "history", "last_answer", "tables"))), c("departments", "visits"))
  check("exists", c(DBI::dbExistsTable(c, "visits"), DBI::dbExistsTable(c, "nothing")), c(TRUE, FALSE))
  check("fields", "department" %in% DBI::dbListFields(c, "visits"), TRUE)
  if (name == "RPostgres") {
    one <- DBI::dbGetQuery(c, "SELECT name FROM departments WHERE name = $1", params = list("ICU"))
    check("parameter", one$name, "ICU")
  }
  r <- DBI::dbSendQuery(c, "SELECT name FROM departments ORDER BY name")
  check("portions", c(nrow(DBI::dbFetch(r, n = 3)), nrow(DBI::dbFetch(r, n = -1))), c(3L, 5L))
  invisible(DBI::dbClearResult(r))
  refused <- tryCatch(DBI::dbGetQuery(c, "SELECT age FROM visits"), error = conditionMessage, warning = conditionMessage)
  check("a refusal has no rows", is.data.frame(refused), FALSE)
  if (name == "RPostgres") check("a refusal has its code", grepl("[D041]", refused, fixed = TRUE), TRUE)
  left <- DBI::dbGetQuery(c, "SELECT * FROM discreet.budget")
  check("budget", nrow(left) > 0, TRUE)
  invisible(DBI::dbDisconnect(c))
  cat(name, format(utils::packageVersion(name)), "\n")
}

found <- Filter(function(name) requireNamespace(name, quietly = TRUE), c("RPostgres", "RPostgreSQL"))
if (length(found) == 0) stop("R has no client of PostgreSQL")
for (name in found) ask(name)
