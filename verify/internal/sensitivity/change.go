package sensitivity

// changed are the variables that hold something else now, and the objects that what is
// private moved in.
func changed(before, st *state) (vars map[place]bool, objs map[int]bool) {
	vars, objs = map[place]bool{}, map[int]bool{}
	for p, v := range before.vars {
		if w, ok := st.vars[p]; ok && (!equal(v, w) || resized(before, st, v)) {
			vars[p] = true
		}
	}
	for id, o := range before.heap {
		p := st.heap[id]
		if p == nil || o == p {
			continue
		}
		same := o.slot == p.slot && o.length.is(p.length) && sameEnv(o.keys, p.keys)
		for n := range o.env {
			same = same && sameEnv(o.env[n], p.env[n]) && (o.size[n] == nil) == (p.size[n] == nil) && sameEnv(o.size[n], p.size[n])
		}
		objs[id] = !same
	}
	return vars, objs
}

// resized reports whether a slice that a value leads to has another length.
func resized(before, st *state, v value) bool {
	if v.kind == ref {
		return !before.heap[v.obj].length.is(st.heap[v.obj].length)
	}
	for _, w := range v.fields {
		if resized(before, st, w) {
			return true
		}
	}
	for _, w := range v.elems {
		if resized(before, st, w) {
			return true
		}
	}
	return false
}

func sameEnv(e, f env) bool {
	if len(e) != len(f) {
		return false
	}
	for s, b := range e {
		c, ok := f[s]
		if !ok || (b.infinite == nil) != (c.infinite == nil) || !b.most.is(c.most) {
			return false
		}
	}
	return true
}

func holds(v value, objs map[int]bool) bool {
	if v.kind == ref && objs[v.obj] {
		return true
	}
	for _, w := range v.fields {
		if holds(w, objs) {
			return true
		}
	}
	for _, w := range v.elems {
		if holds(w, objs) {
			return true
		}
	}
	return false
}
