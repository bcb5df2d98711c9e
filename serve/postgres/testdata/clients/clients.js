// Asks the server under test through node-postgres. Usage: node clients.js HOST PORT PASSWORD
const assert = require('node:assert');
const { Client } = require('pg');

const [host, port, password] = process.argv.slice(2);
const grouped = 'SELECT department, count(*) AS visits FROM visits GROUP BY department ORDER BY department';

async function main() {
  const c = new Client({ host, port, user: 'anna', password, database: 'discreet', options: '-c discreet.rho=0.0001' });
  await c.connect();
  const all = await c.query(grouped);
  assert.deepStrictEqual([all.rows.length, all.fields.map((f) => f.dataTypeID)], [8, [25, 20]]);
  const one = await c.query('SELECT name FROM departments WHERE name = $1', ['ICU']);
  assert.deepStrictEqual(one.rows, [{ name: 'ICU' }]);
  for (let i = 0; i < 2; i++) {
    const named = await c.query({ name: 'over', text: 'SELECT count(*) AS n FROM visits WHERE age > $1', values: [30] });
    assert.strictEqual(named.rows.length, 1);
  }
  await assert.rejects(c.query('SELECT count(*) FROM visit'), { code: '42P01', position: '22' });
  await c.query('BEGIN');
  await assert.rejects(c.query('oops'), { code: '42601' });
  await assert.rejects(c.query('SELECT 1'), { code: '25P02' });
  await c.query('ROLLBACK');
  await c.end();
  console.log('node-postgres');
}

main().catch((e) => { console.error(e); process.exit(1); });
