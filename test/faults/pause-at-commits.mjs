// Preloaded into a process of Daybook. Calls the test before and after each commit and waits for its answer; the process may be killed meanwhile. A
// commit is named after the product's file that makes it.
import { AsyncLocalStorage } from 'node:async_hooks';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { DefaultQueryExecutor } from 'kysely';
import pg from 'pg';

const { TEST_COMMIT_SERVER } = process.env;
/** The root of the checkout, because the built product is a bundle. */
const [root] = process.argv[1].split(/\/(?:bin|activities)\//);
const product = new RegExp(
  `${root}/((?:warehouse|activities|requests|lake|marts|operations|worker|server|cli)/[^\\s:)]+)\\.[jt]s`,
  'g',
);
/** Files that commit on behalf of others. */
const onBehalf = [
  'warehouse/transactions/in-transaction.ts',
  'warehouse/transactions/taking-locks.ts',
  'warehouse/open-warehouse.ts',
];
const writes =
  /\b(insert\s+into|update\s+\S+(\s+(as\s+)?\w+)?\s+set|delete\s+from|merge\s+into|truncate|(create|alter|drop)\s)/i;

/** The file for which Kysely works; the stack no longer shows it when a statement is sent. */
const caller = new AsyncLocalStorage();
/** The file that took each client of a pool. */
const holders = new WeakMap();
/** The open transaction of each client. */
const transactions = new WeakMap();

const { provideConnection } = DefaultQueryExecutor.prototype;
DefaultQueryExecutor.prototype.provideConnection = function (consumer) {
  return caller.run(callingFile(), () => provideConnection.call(this, consumer));
};

const { connect } = pg.Pool.prototype;
pg.Pool.prototype.connect = function (callback) {
  const file = caller.getStore() ?? callingFile();
  const hold = (client) => {
    if (client !== undefined) holders.set(client, file);
    return client;
  };
  if (callback === undefined) return connect.call(this).then(hold);
  return connect.call(this, (error, client, release) => callback(error, hold(client), release));
};

const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (config, ...rest) {
  const text = typeof config === 'string' ? config : config?.text;
  const point = typeof text === 'string' ? findCommitPoint(this, text) : undefined;
  if (point === undefined) return query.call(this, config, ...rest);
  const callback = rest.findLast((argument) => typeof argument === 'function');
  const done = around(point, () =>
    query.call(this, config, ...rest.filter((argument) => argument !== callback)),
  );
  if (callback === undefined) return done;
  done.then((result) => callback(null, result), callback);
};

for (const operation of ['writeFile', 'rename']) {
  const real = files[operation];
  files[operation] = (...args) => {
    const file = callingFile();
    return /^(lake|marts)\//.test(file ?? '') ? around(file, () => real(...args)) : real(...args);
  };
}
syncBuiltinESMExports();

/** The file whose work this statement commits: a commit after a write, or a write outside a transaction. */
function findCommitPoint(client, text) {
  const transaction = transactions.get(client);
  if (/^\s*(begin|start transaction)/i.test(text)) {
    transactions.set(client, { file: holders.get(client) ?? callingFile(), writes: false });
  } else if (/^\s*rollback\s*$/i.test(text)) {
    transactions.delete(client);
  } else if (/^\s*commit/i.test(text)) {
    transactions.delete(client);
    return transaction?.writes ? transaction.file : undefined;
  } else if (writes.test(text)) {
    if (transaction === undefined) return holders.get(client) ?? callingFile();
    transaction.writes = true;
  }
}

async function around(point, work) {
  await ask(point, 'before');
  const result = await work();
  await ask(point, 'after');
  return result;
}

async function ask(point, side) {
  const { pid, ppid } = process;
  await fetch(TEST_COMMIT_SERVER, { method: 'POST', body: JSON.stringify({ point, side, pid, ppid }) });
}

/** The innermost file of the product on the stack. */
function callingFile() {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = Infinity;
  const { stack } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return [...stack.matchAll(product)]
    .map(([, file]) => `${file}.ts`)
    .find((file) => !onBehalf.includes(file));
}
