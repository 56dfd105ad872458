#include "policy.h"

static const struct policy *const POLICIES[] = {
    &policy_flow, &policy_random, &policy_reps, &policy_drb, &policy_ethereal,
};

enum { POLICY_COUNT = sizeof POLICIES / sizeof *POLICIES };

const struct policy *policy_at(uint32_t number)
{
    return number < POLICY_COUNT ? POLICIES[number] : NULL;
}

const char *dp_policy_name(uint32_t number)
{
    const struct policy *policy = policy_at(number);
    return policy ? policy->name : NULL;
}

const char *dp_policy_parameter(uint32_t number, uint32_t index, double *fallback)
{
    const struct policy *policy = policy_at(number);
    if (!policy || index >= DP_PARAMETERS || !policy->knobs[index].name)
        return NULL;
    *fallback = policy->knobs[index].fallback;
    return policy->knobs[index].name;
}
