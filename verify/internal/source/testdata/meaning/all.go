package meaning

import "github.com/discreet-dp/discreet/noise"

// All are the functions, by name.
var All = map[string]any{
	"Order": Order, "ShortAnd": ShortAnd, "ShortOr": ShortOr, "LoopCondition": LoopCondition, "Indices": Indices,
	"Shadow": Shadow, "Swap": Swap, "Divide": Divide, "DividePanics": DividePanics,
	"IndexPanics": IndexPanics, "MakePanics": MakePanics, "SwitchBreak": SwitchBreak,
	"SwitchTag": SwitchTag, "Labels": Labels, "Closures": Closures, "RangeInt": RangeInt,
	"RangeOnce": RangeOnce, "RangeStores": RangeStores, "Early": Early, "Methods": Methods,
	"ByValue": ByValue, "Yields": Yields, "Stream": Stream, "Counts": Counts,
	"Mathematics": Mathematics, "Pick": Pick, "Errors": Errors, "Drawn": Drawn,
	"ErrorVariable": ErrorVariable, "OffByOne": OffByOne, "AppendedPanics": AppendedPanics, "ContinuePanics": ContinuePanics,
	"FarPanics": FarPanics, "Guard": Guard, "Maps": Maps, "Appended": Appended, "Nested": Nested,
	"Infinities": Infinities, "Ends": Ends, "Library": Library, "Made": Made, "Rows": Rows, "RowsAside": RowsAside, "Nothing": Nothing, "Places": Places,
	"Called": Called, "Instances": Instances, "Texts": Texts, "News": News, "Arrays": Arrays, "InfiniteSums": InfiniteSums, "ArrayPanics": ArrayPanics, "ClampPanics": ClampPanics, "Constants": Constants, "Begun": Begun, "CapacityPanics": CapacityPanics, "While": While, "Least": Least, "Wider": Wider, "Leaving": Leaving, "Parts": Parts, "Copied": Copied, "PartPanics": PartPanics, "PartsOfOwn": PartsOfOwn,
	"counter.Receiver": func(s *State, q []float64, eps float64, src *noise.Source) (int, bool) {
		return (&counter{count: s.Count, limit: s.Limit, sum: s.Sum, inner: &inner{s.Deep}}).Receiver(q, eps, src)
	},
}

// State is the part of a receiver that comes from without.
type State struct {
	Count, Limit int
	Sum          float64
	Deep         int
}
