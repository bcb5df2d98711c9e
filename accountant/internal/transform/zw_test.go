package transform
import ("testing";"fmt";"math")
func TestW(t *testing.T){
 for _,x:=range []struct{s,q float64; n int64; d float64; dir Direction}{{20.6,8.04e-9,494000000,2.15e-14,Add},{2.65,1.27e-6,23000,2.62e-9,Add},{31.3,1.72e-6,208000,1.76e-6,Replace},{1,1e-9,1000000000,1e-12,Add}}{
  c,_:=New([]Term{{x.s,1,x.q,x.n}},x.dir)
  ld:=math.Log(x.d)
  s,ok:=c.saddleOf(ld)
  ps:=c.points(s)
  eps:=chernoff(ps,ld)
  fmt.Println(x,s,ok,s.logDelta(),ld,eps,len(ps))
  for _,p:=range ps { fmt.Println("  ",p.theta,p.k,p.exponent(eps)) }
  l,err:=c.lay(ps,eps,ld)
  fmt.Println(err,l.base.theta,l.dt,c.events[0].step(l.base.theta,50))
  cs:=c.events[0].cells(l.base.theta)
  fmt.Println(len(cs.list),cs.rim, cs.step(32*l.dt,50), cs.step(0,50),cs.list[0].lo,cs.list[len(cs.list)-1].hi)
 }
}
