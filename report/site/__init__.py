"""The site above all campaigns: what answers the reader's questions, from campaigns, audits and claims."""
