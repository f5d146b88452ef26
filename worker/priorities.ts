/** For commands, which do not see activities. */
export { priorities } from '../activities/priorities.ts';
