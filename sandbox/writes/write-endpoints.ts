import type { Answer, DataRequest } from '../api/data-request.ts';
import { resources } from '../api/resources.ts';
import type { WriteOperation } from '../api/resources.ts';
import { unsupported } from '../api/unsupported.ts';
import type { Connection } from '../world/connection.ts';
import { answerWrite } from './answer-write.ts';
import { applyCreditMemo, readCreditApplication } from './credit-application.ts';
import { readBody } from './read-body.ts';
import { readFields } from './read-fields.ts';
import type { WritableResource } from './record-fields.ts';
import { createRecord, deleteRecord, updateRecord } from './write-record.ts';
import type { WriteService } from './write-service.ts';

/** Every write of the document (4.2 to 4.5). A platform that does not support it answers 404. */
export function writeEndpoints(service: WriteService): WriteEndpoint[] {
  return writableResources.flatMap((resource) => {
    const { path, writes } = resources[resource];
    return writes.map((operation): WriteEndpoint => {
      const answer = (request: DataRequest<Connection>, id: string) => {
        const { lists, missingWrites } = request.connection.platform;
        if (!lists.includes(resource) || missingWrites[resource]?.includes(operation) === true)
          throw unsupported(`to ${operation} ${resource}`);
        return operations[operation](service, request, { resource, id });
      };
      return { ...routes[operation](path), answer };
    });
  });
}

const writableResources = ['bills', 'expenses', 'bill_credit_memos', 'customers', 'items'] as const;

const routes: Record<WriteOperation, (path: string) => Route> = {
  create: (path) => ({ method: 'POST', path }),
  update: (path) => ({ method: 'PATCH', path: `${path}/:id` }),
  delete: (path) => ({ method: 'DELETE', path: `${path}/:id` }),
  apply: () => ({ method: 'POST', path: '/accounting/bill_credit_applications' }),
};

/** Each reads its body and returns what to do, without doing it, because the answer may not wait for it. */
const operations: Record<WriteOperation, Operation> = {
  create(service, request, { resource }) {
    const { members, responseMode } = readBody(request.body, resources[resource].singular);
    const written = readFields(request, resource, { members, complete: true });
    const write = () => createRecord(service, request, resource, written);
    return answerWrite(service, request, { responseMode, write });
  },
  update(service, request, { resource, id }) {
    const { members, responseMode } = readBody(request.body, resources[resource].singular);
    const written = readFields(request, resource, { members, complete: false });
    const write = () => updateRecord(service, request, resource, { id, written });
    return answerWrite(service, request, { responseMode, write });
  },
  delete(service, request, { resource, id }) {
    const write = () => deleteRecord(service, request, resource, id);
    return answerWrite(service, request, { responseMode: 'sync', write });
  },
  apply(service, request) {
    const { members, responseMode } = readBody(request.body, 'bill_credit_application');
    const application = readCreditApplication(members);
    const write = () => applyCreditMemo(service, request, application);
    return answerWrite(service, request, { responseMode, write });
  },
};

type Operation = (
  service: WriteService,
  request: DataRequest<Connection>,
  target: { readonly resource: WritableResource; readonly id: string },
) => Promise<Answer>;

interface Route {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
}

export interface WriteEndpoint extends Route {
  readonly answer: (request: DataRequest<Connection>, id: string) => Promise<Answer>;
}
