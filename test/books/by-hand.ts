import { inPlace } from '../simulation/in-place.ts';
import { checkBooks } from './check-books.ts';
const [seed = '1', books = '3', documents = '20'] = process.argv.slice(2);
const started = Date.now();
await inPlace(async (place) => {
  const result = await checkBooks({ databaseUrl: await place.createDatabase(), seed: Number(seed), books: Number(books), documents: Number(documents)});
  console.log(result.differences.join('\n'));
  console.log(result.books, result.documents, result.rows, result.figures, result.differences.length, result.today, (Date.now() - started) / 1000);
}).catch((e) => { console.error(e); process.exitCode = 1; });
