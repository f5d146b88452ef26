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

  test('goes on from a cursor', async () => {
    const api = await startPagedApi({ b: { bills: [3], next_cursor: null } });
    expect(await collect(readPages(clientOf(api).client, { ...reading, cursor: 'b' }, asItCame))).toEqual([
      3,
    ]);
  });

  test('asks for nothing before the first page is asked for', async () => {
    const api = await startPagedApi({});
    const pages = readPages(clientOf(api).client, reading, asItCame);
    await pages.return();
    expect(api.requests).toHaveLength(0);
  });
});

describe('the next page', () => {
  test('is asked for while the caller works, and only that one', async () => {
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

  test('fails only when it is asked for', async () => {
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

  test('is no longer asked for when the caller leaves early', async () => {
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

  test('ends with the reason of an abort', async () => {
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
  test('that comes back as its own successor is an error, not a loop', async () => {
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

  test('that is refused with and without a limit is to be restarted without', async () => {
    const api = await startScriptedApi((_, response) => {
      response.writeHead(400).end();
    });
    const reads = collect(readPages(clientOf(api).client, { ...reading, cursor: 'old' }, asItCame));
    await expect(reads).rejects.toMatchObject({ name: 'CursorRefused', handling: 'restart', status: 400 });
    expect(api.requests.map(({ query }) => query.get('limit'))).toEqual(['500', null]);
  });
});

describe('a limit', () => {
  test('that is refused is left out from then on', async () => {
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

  test('is not the reason of a refusal that stays on the first page', async () => {
    const api = await startScriptedApi((_, response) => {
      response.writeHead(400).end();
    });
    const reads = collect(readPages(clientOf(api).client, reading, asItCame));
    await expect(reads).rejects.toMatchObject({ name: 'RequestRefused', handling: 'stop' });
    expect(api.requests).toHaveLength(2);
  });

  test('is sent no second time when the connection does not work', async () => {
    const api = await startScriptedApi((_, response) => {
      response.writeHead(400).end('{"error_code":"CONNECTION_DISABLED"}');
    });
    const reads = collect(readPages(clientOf(api).client, { ...reading, cursor: 'a' }, asItCame));
    await expect(reads).rejects.toMatchObject({ name: 'ConnectionDisabled' });
    expect(api.requests).toHaveLength(1);
  });
});
