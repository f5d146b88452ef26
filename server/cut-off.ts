import type { Socket } from 'node:net';

/**
 * Ends a connection, and what is left of the packet in hand: 64 KB hold a thousand requests or ten thousand pieces of a body, and Node
 * would go on to make something of each. Node's types do not have its parser.
 */
export function cutOff(socket: Socket & { readonly parser?: { pause?: () => void } | null }): void {
  socket.destroy();
  socket.parser?.pause?.();
}
