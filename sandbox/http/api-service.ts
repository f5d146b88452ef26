import type { FaultRules } from '../faults/fault-rules.ts';
import type { RequestFault } from '../faults/fault-rule.ts';
import type { WriteService } from '../writes/write-service.ts';
import type { Credentials } from './authenticate.ts';
import type { RequestLog } from './request-log.ts';

/** The parts of the service that the API needs. */
export interface ApiService extends WriteService {
  readonly credentials: Credentials;
  readonly faults: Pick<FaultRules, 'take' | 'takePlatform'>;
  readonly log: Pick<RequestLog, 'add'>;
  randomFault(): RequestFault | null;
}
