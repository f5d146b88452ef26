import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { pythonWithReaders } from './python-with-readers.ts';

export interface Question {
  /** A Python file in this folder. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Runs a program in the Python that reads Iceberg tables, whose imports cost a second of CPU only once. Returns its output. */
export async function askReaders(question: Question): Promise<string> {
  answering ??= startAnswering();
  const ask = await answering;
  return ask({ ...question, program: fileURLToPath(new URL(question.program, import.meta.url)) });
}

/** Shared by all test files of the process. */
let answering: Promise<(question: Question) => Promise<string>> | undefined;

async function startAnswering(): Promise<(question: Question) => Promise<string>> {
  const program = fileURLToPath(new URL('answer_questions.py', import.meta.url));
  const child = spawn(await pythonWithReaders(), [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let before: Promise<unknown> = Promise.resolve();
  return (question) => {
    const answer = before.then(async () => {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      const line = await lines.next();
      if (line.done === true) throw new Error(`Python ended before it answered ${question.program}.`);
      const { text, failed } = JSON.parse(line.value) as { text: string; failed: boolean };
      if (failed) throw new Error(`${question.program} failed: ${text}`);
      return text;
    });
    before = answer.catch(() => undefined);
    return answer;
  };
}
