import { describe, expect, test } from 'vitest';
import type { ListRequest } from '../../source/api-client.ts';
import type { ListPage } from '../../source/responses.ts';
import { readPages, type Reading } from '../../source/read-pages.ts';
import {
  answerJson,
  billsRequest,
  clientOf,
  startScriptedApi,
  type ScriptedApi,
  type SeenRequest,
} from './scripted-api.ts';

const reading: Reading = { ...billsRequest, cursor: null };

function asItCame(page: ListPage): ListPage {
  return page;
}

async function collect(pages: AsyncIterable<ListPage>): Promise<unknown[]> {
  const records: unknown[] = [];
  for await (const page of pages) records.push(...page.records.map(({ value }) => value));
  return records;
}

/** Serves pages `{"": {...}, cursor: {...}}`, by the cursor that requests them. */
async function startPagedApi(
  pages: Record<string, { bills: number[]; next_cursor?: string | null }>,
): Promise<ScriptedApi> {
  return startScriptedApi((request, response) => {
    answerJson(response, pages[cursorOf(request)]);
  });
}

function cursorOf(request: SeenRequest): string {
  return request.query.get('cursor') ?? '';
}

describe('reading a stream', () => {
  test('follows the cursor to its end with the same filters on every page', async () => {
    const api = await startPagedApi({
      '': { bills: [1, 2], next_cursor: 'a+/=' },
      'a+/=': { bills: [], next_cursor: 'b' },
      b: { bills: [3] },
    });
    const filtered = { ...reading, query: { sort: 'x ASC', updated_at_min: '5' } };
    const pages = readPages(clientOf(api).client, filtered, asItCame);
    expect(await collect(pages)).toEqual([1, 2, 3]);
    expect(api.requests.map(cursorOf)).toEqual(['', 'a+/=', 'b']);
    for (const { query } of api.requests) {
      expect(query.get('sort')).toBe('x ASC');
      expect(query.get('updated_at_min')).toBe('5');
      expect(query.get('limit')).toBe('500');
    }
  });

  test('continues from a given cursor', async () => {
    const api = await startPagedApi({ b: { bills: [3], next_cursor: null } });
    expect(await collect(readPages(clientOf(api).client, { ...reading, cursor: 'b' }, asItCame))).toEqual([
      3,
    ]);
  });

  test('sends no request before the caller asks for the first page', async () => {
    const api = await startPagedApi({});
    const pages = readPages(clientOf(api).client, reading, asItCame);
    await pages.return();
    expect(api.requests).toHaveLength(0);
  });
});

describe('the next page', () => {
  test('is requested while the caller works, and no further page is', async () => {
    const api = await startScriptedApi((request, response) => {
      answerJson(response, { bills: [], next_cursor: `${cursorOf(request)}i` });
    });
    const { client, budget } = clientOf(api);
    const pages = readPages(client, reading, asItCame);
    await pages.next();
    await api.arrival(2);
    expect(budget.taken()).toBe(2);
    await pages.return();
    expect(api.requests).toHaveLength(2);
  });

  test('fails only when the caller asks for it', async () => {
    const api = await startScriptedApi((request, response) => {
      if (cursorOf(request) === '') answerJson(response, { bills: [1], next_cursor: 'a' });
      else response.writeHead(500).end();
    });
    const { client } = clientOf(api);
    const lists: Promise<ListPage>[] = [];
    const observed = {
      ...client,
      list(request: ListRequest): Promise<ListPage> {
        const list = client.list(request);
        lists.push(list);
        return list;
      },
    };
    const pages = readPages(observed, reading, asItCame);
    expect((await pages.next()).value).toMatchObject({ records: [{ value: 1 }], nextCursor: 'a' });
    await expect(lists[1]).rejects.toMatchObject({ status: 500 });
    await expect(pages.next()).rejects.toMatchObject({ name: 'SourceUnavailable', status: 500 });
    expect(await pages.next()).toEqual({ done: true, value: undefined });
  });

  test('has its request aborted if the caller leaves early', async () => {
    const api = await startScriptedApi((request, response) => {
      if (cursorOf(request) === '') answerJson(response, { bills: [1], next_cursor: 'a' });
    });
    for await (const page of readPages(clientOf(api).client, reading, asItCame)) {
      expect(page.records).toEqual([{ text: '1', value: 1 }]);
      await api.arrival(2);
      break;
    }
    await (
      await api.arrival(2)
    ).abandoned;
  });

  test('fails with the reason of an abort', async () => {
    const abort = new AbortController();
    const api = await startScriptedApi((request, response) => {
      if (cursorOf(request) === '') answerJson(response, { bills: [1], next_cursor: 'a' });
      else abort.abort(new Error('cancelled'));
    });
    const pages = readPages(clientOf(api).client, { ...reading, signal: abort.signal }, asItCame);
    await pages.next();
    await expect(pages.next()).rejects.toThrow('cancelled');
  });
});

describe('a cursor', () => {
  test('is an error, not a loop, if it comes back as its own successor', async () => {
    const api = await startPagedApi({
      '': { bills: [1], next_cursor: 'a' },
      a: { bills: [2], next_cursor: 'a' },
    });
    const reads = collect(readPages(clientOf(api).client, reading, asItCame));
    await expect(reads).rejects.toMatchObject({
      name: 'CursorNotMoving',
      handling: 'retry',
      requestId: 'req_1',
    });
    expect(api.requests).toHaveLength(2);
  });

  test('requires a restart without it if it is refused with and without a limit', async () => {
    const api = await startScriptedApi((_, response) => {
      response.writeHead(400).end();
    });
    const reads = collect(readPages(clientOf(api).client, { ...reading, cursor: 'old' }, asItCame));
    await expect(reads).rejects.toMatchObject({ name: 'CursorRefused', handling: 'restart', status: 400 });
    expect(api.requests.map(({ query }) => query.get('limit'))).toEqual(['500', null]);
  });
});

describe('a limit', () => {
  test('is left out from then on if it is refused', async () => {
    const api = await startScriptedApi((request, response) => {
      if (request.query.has('limit')) response.writeHead(400).end();
      else if (cursorOf(request) === '') answerJson(response, { bills: [1], next_cursor: 'a' });
      else answerJson(response, { bills: [2] });
    });
    expect(await collect(readPages(clientOf(api).client, { ...reading, limit: 200 }, asItCame))).toEqual([
      1, 2,
    ]);
    expect(api.requests.map(({ query }) => query.get('limit'))).toEqual(['200', null, null]);
  });

  test('is not blamed if the first page is refused without it too', async () => {
    const api = await startScriptedApi((_, response) => {
      response.writeHead(400).end();
    });
    const reads = collect(readPages(clientOf(api).client, reading, asItCame));
    await expect(reads).rejects.toMatchObject({ name: 'RequestRefused', handling: 'stop' });
    expect(api.requests).toHaveLength(2);
  });

  test('is not left out for a second request if the connection is disabled', async () => {
    const api = await startScriptedApi((_, response) => {
      response.writeHead(400).end('{"error_code":"CONNECTION_DISABLED"}');
    });
    const reads = collect(readPages(clientOf(api).client, { ...reading, cursor: 'a' }, asItCame));
    await expect(reads).rejects.toMatchObject({ name: 'ConnectionDisabled' });
    expect(api.requests).toHaveLength(1);
  });
});
