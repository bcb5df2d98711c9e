package process

// ForgedReport is a report of a client that splits by another task than the one whose digest it uses.
func ForgedReport(c *Client, hash, batch string, numbers []uint64) (*Report, error) {
	forger := *c
	forger.hash = hash
	task := *c.task
	var err error
	if forger.prio, err = newPrio(&task, hash); err != nil {
		return nil, err
	}
	return forger.Report(batch, numbers)
}
