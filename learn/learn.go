// Package learn trains networks on private data by noisy gradient descent (DP-SGD:
// Abadi et al. 2016), with the guarantee of the plan that it was given.
package learn
