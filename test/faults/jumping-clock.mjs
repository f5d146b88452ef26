// Preloaded into a process. At each SIGUSR2 its clock jumps: six hours ahead, then twelve back, and so on.
const { now } = Date;
const hours = 3_600_000;
let offset = 0;
process.on('SIGUSR2', () => {
  offset = offset > 0 ? -6 * hours : 6 * hours;
});
Date.now = () => now() + offset;
globalThis.Date = class extends Date {
  constructor(...args) {
    if (args.length === 0) super(Date.now());
    else super(...args);
  }
};
