package accountant

// A Name is that of an accountant.
type Name string

// The accountants. Each says at its functions by which theorem.
const (
	Basic    Name = "basic"    // sums of ε and δ
	Advanced Name = "advanced" // advanced composition
	Optimal  Name = "optimal"  // the optimal composition of equal (ε, δ)
	Moments  Name = "moments"  // Rényi divergences, by the conversion of the moments accountant
	RDP      Name = "rdp"      // Rényi divergences
	ZCDP     Name = "zcdp"     // concentrated differential privacy
	GDP      Name = "gdp"      // Gaussian differential privacy
	PLD      Name = "pld"      // privacy loss distributions
)

// Names lists the accountants.
func Names() []Name { return []Name{Basic, Advanced, Optimal, Moments, RDP, ZCDP, GDP, PLD} }

// A Direction says which way round neighbours lie.
type Direction string

// The directions.
const (
	Add     Direction = "add"     // a unit is added
	Remove  Direction = "remove"  // a unit is removed
	Replace Direction = "replace" // a unit takes another's place
	Both    Direction = "both"    // either way round it is the same, or not told apart
)
