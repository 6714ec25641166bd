/** The frozen target model: its configuration, packed forward pass with taps, cached decoding. */
package org.draftmill.compute.target;
