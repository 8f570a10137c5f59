"""Ordinal regression: Newton's method in linear features; hard margins by ranking.

    min over f, b    1/2 |f|^2 + sum_i c_i sum_k loss(1 - s_ik (f(x_i) - b_k)),
                     loss(u) = u_+ or u_+^2

The thresholds b_0, ..., b_{L-2} lie between the levels 0, ..., L - 1; s_ik is 1 if the
level of point i is above k, and -1 otherwise.

References
----------
W. Chu, S. S. Keerthi. New approaches to support vector ordinal regression. ICML 2005,
section 3.
"""
