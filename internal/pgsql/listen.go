package pgsql

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// silence is for how long a listening session hears nothing before it looks whether the database
// is still there.
const silence = 30 * time.Second

// Listen hears what is told on a channel (NOTIFY), in a session of its own, until the context ends
// or the session is lost, and says why. ready is called once all that is told is heard from then on.
func Listen(ctx context.Context, url string, s Settings, channel string, ready func(), hear func(word string)) error {
	config, err := parse(url)
	if err != nil {
		return err
	}
	for k, v := range s {
		config.RuntimeParams[k] = v
	}
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { hear(n.Payload) }
	c, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return failure(err)
	}
	defer func() {
		ending, stop := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer stop()
		_ = c.Close(ending) // nothing is under way
	}()
	if _, err := c.Exec(ctx, "LISTEN "+channel).ReadAll(); err != nil {
		return failure(err)
	}
	ready()
	for {
		waiting, stop := context.WithTimeout(ctx, silence)
		err := c.WaitForNotification(waiting)
		stop()
		if err == nil {
			continue
		}
		if ctx.Err() != nil || c.IsClosed() || !errors.Is(err, context.DeadlineExceeded) {
			return failure(errors.Join(ctx.Err(), err))
		}
		asking, stop := context.WithTimeout(ctx, silence)
		_, err = c.Exec(asking, "SELECT 1").ReadAll()
		stop()
		if err != nil {
			return failure(err)
		}
	}
}
