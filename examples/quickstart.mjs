/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The Node quickstart that README quotes; a test of doors/node runs it.
 */
// region quickstart
import { createKevyNitroAt } from 'kevy-node';

const db = createKevyNitroAt('./visits'); // made if it is not there; throws why it cannot be
db.setString('greeting', 'hello', 60_000); // with a time to live, in milliseconds
console.log(db.getString('greeting'));
console.log(db.call('INCR', 'visits'), 'visits'); // any Redis command; a kill loses nothing

db.ref().subscribePush('news', (payload) => {
  console.log('news:', Buffer.from(payload).toString());
  db.dispose();
});
db.publish('news', `kevy ${db.version()} is up`);
// end region
