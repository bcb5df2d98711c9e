// Package rmse measures the error of answers: forty statements over the Adult data and the demo's visits, at three costs, beside
// other libraries at the same guarantee and bounds. The error is the root of the mean square over draws and groups, against the truth
// without bounds. workload.json has the statements.
//
//	go test ./bench/rmse -run Errors -visits FILE -adult FILE -kept FOLDER -timeout 2h
//
// What was measured is kept in the folder, statement by statement, so that a run goes on where another was stopped.
package rmse
