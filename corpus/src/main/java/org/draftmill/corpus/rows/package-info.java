/** From a line of JSON to training sequences, or to the reason why there is none. */
package org.draftmill.corpus.rows;
