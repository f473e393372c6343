/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A local fan-out lane beside a store: handlers in this environment get what
 * is published through the same bus, without a thread in between; everyone
 * else gets it from the engine as usual.
 *
 * - A handler subscribed here is called only by this bus, never for what was
 *   published elsewhere.
 * - Every publish goes to the engine first, then to the handlers here; if the
 *   engine refuses it, to nobody.
 * - The receivers of a message are those subscribed when it was published:
 *   unsubscribing later does not take it from them, subscribing later does not
 *   give it. Each gets it once, in the order of publishing, in a microtask.
 * - The payload is copied once; all handlers of a message share the copy.
 * - A handler that throws forfeits its own delivery only; the exception is an
 *   uncaught one.
 */
import { Bytes, failure, functionCheck, host, native } from './native';
import { throwLater } from './push';
import { KevyNitro } from './kevy';

export type BusHandler = (payload: ArrayBuffer, channel: string) => void;

export interface KevyBus {
  /** Adds a handler; returns what removes it again (once; more is nothing). */
  subscribe(channel: string, handler: BusHandler): () => void;
  /** Publishes; returns the engine's receivers plus the handlers here. */
  publish(channel: string, payload: string | Bytes): number;
}

interface Message {
  channel: string;
  payload: ArrayBuffer;
  receivers: readonly BusHandler[];
}

/* Bytes would be a channel of the engine's, and of no handler. */
function channelCheck(channel: unknown): void {
  if (typeof channel !== 'string') {
    throw failure(TypeError, 'KEVY_EMISUSE', 'the channel is not a string');
  }
}

class Bus implements KevyBus {
  readonly #kevy: KevyNitro;
  /* The arrays are replaced, never changed: a message keeps the one it saw. */
  readonly #handlers = new Map<string, readonly BusHandler[]>();
  #queue: Message[] = [];
  readonly #drain = (): void => this.#deliver();

  constructor(kevy: KevyNitro) {
    this.#kevy = kevy;
  }

  subscribe(channel: string, handler: BusHandler): () => void {
    channelCheck(channel);
    functionCheck(handler);
    /* A function of its own, so that one subscribed twice is two handlers. */
    const own: BusHandler = (payload, name) => handler(payload, name);
    this.#handlers.set(channel, [...(this.#handlers.get(channel) ?? []), own]);
    return () => this.#remove(channel, own);
  }

  #remove(channel: string, own: BusHandler): void {
    const rest = this.#handlers.get(channel)?.filter((one) => one !== own);
    if (rest === undefined) return;
    if (rest.length > 0) this.#handlers.set(channel, rest);
    else this.#handlers.delete(channel);
  }

  publish(channel: string, payload: string | Bytes): number {
    channelCheck(channel);
    const receivers = this.#handlers.get(channel);
    if (receivers === undefined) return this.#kevy.publish(channel, payload);
    const copy = native.copyOf(payload);
    const engine = this.#kevy.publish(channel, payload);
    this.#queue.push({ channel, payload: copy, receivers });
    if (this.#queue.length === 1) host.queueMicrotask(this.#drain);
    return engine + receivers.length;
  }

  /* What handlers publish meanwhile is put behind, and delivered here too. */
  #deliver(): void {
    const queue = this.#queue;
    for (let i = 0; i < queue.length; i++) {
      const { channel, payload, receivers } = queue[i] as Message;
      for (const receiver of receivers) {
        try {
          receiver(payload, channel);
        } catch (error) {
          throwLater(error);
        }
      }
    }
    this.#queue = [];
  }
}

/** Makes a bus beside `kevy`. Buses of one store do not see each other. */
export function createKevyBus(kevy: KevyNitro): KevyBus {
  if (!(kevy instanceof KevyNitro)) {
    throw failure(TypeError, 'KEVY_EMISUSE', 'expected a KevyNitro');
  }
  return new Bus(kevy);
}
