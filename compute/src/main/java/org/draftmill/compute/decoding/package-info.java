/** Real speculative decoding of a target with a draft model, and the figures that judge it. */
package org.draftmill.compute.decoding;
