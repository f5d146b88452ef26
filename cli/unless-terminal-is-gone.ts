/**
 * Returns a handler for the `error` event of stdout or stderr. A terminal may be closed while the process still has to stop what it started;
 * errors of writing to it are ignored from then on. Every other error is thrown.
 */
export function unlessTerminalIsGone({ isTTY }: NodeJS.WriteStream): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (!isTTY || error.code !== 'EIO') throw error;
  };
}
