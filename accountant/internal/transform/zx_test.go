package transform
import ("testing";"fmt";"math";"time";"math/rand";"sort";"os")
func TestX(t *testing.T){ start:=time.Now()
 r:=rand.New(rand.NewSource(1))
 lu:=func(a,b float64) float64 { return math.Exp(math.Log(a)+r.Float64()*math.Log(b/a))}
 bad:=0; var times []float64; var widths []float64
 for i:=0;i<400;i++ {
  if time.Since(start)>40*time.Second { break }
  fmt.Print("")
  s,q,n,d:=lu(.3,100),lu(1e-9,.9),int64(lu(1,1e9)),lu(1e-15,1e-3)
  dir:=Direction(r.Intn(3)); fmt.Fprintf(os.Stderr,"%g %g %d %g %v\n",s,q,n,d,dir)
  c,_:=New([]Term{{s,1,q,n}},dir)
  t0:=time.Now()
  b,err:=c.Epsilon(d)
  dt:=time.Since(t0)
  if err!=nil { bad++; fmt.Printf("%.3g %.3g %.3g %.3g %v nq=%.3g nq2=%.3g: %v %v\n",s,q,float64(n),d,dir,float64(n)*q,float64(n)*q*q/s/s,err,dt); continue}
  times=append(times,dt.Seconds()*1e3); if b.High>0 {widths=append(widths,(b.High-b.Low)/b.High)}
 }
 sort.Float64s(times); sort.Float64s(widths)
 N:=len(times); W:=len(widths)
 fmt.Println(bad, "of 400 refused; ms median, 90, 99%, max:", times[N/2],times[N*9/10],times[N*99/100],times[N-1], "nonzero", W, "widths",widths[W/2],widths[W*9/10],widths[W-1])
}
