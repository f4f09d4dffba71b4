// The other translation unit (see unit_array.cc): the process around the array.
#include "channel_to_client.cc"
#include "crash.cc"
#include "device.cc"
#include "image.cc"
#include "main.cc"
#include "network.cc"
#include "report.cc"
#include "trace.cc"
