/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kevy-node: what the package exports. Start reading at KevyNitro.
 */
export { KevyNitro, createKevyNitro, createKevyNitroAt } from './kevy';
export type { QueueLimits } from './kevy';
export type { Change, ChangeCause, ChangeListener } from './changes';
export type { OpenOptions, OpenReport, Path } from './options';
export { createKevyBus } from './bus';
export type { BusHandler, KevyBus } from './bus';
export { packArgv, unpackFrames } from './frames';
export { KevyReplyError, parseReply } from './reply';
export type { Reply } from './reply';
export type { Bytes, Key } from './native';
