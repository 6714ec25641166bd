/** Files seen through an interface, so that they may lie on any file system. */
package org.draftmill.corpus.io;
