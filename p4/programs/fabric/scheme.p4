// What a scheme's program includes before its control `Balance`; after it comes fabric/main.p4.

#include <core.p4>
#include <v1model.p4>

#include "network.p4"
#include "headers.p4"
#include "metadata.p4"
#include "parser.p4"
#include "uplinks.p4"
#include "routing.p4"
