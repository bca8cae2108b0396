package opkg::candidate;

# Which package a name stands for, and what else it needs. A name is looked at once for missing dependencies: asked a
# second time in the same run, opkg finds nothing missing.
use strict;
use exports qw(best_by_name missing_packages conflicts_of satisfies);
use opkg::catalogue;
use opkg::messages;
use opkg::stanza;
use opkg::version;

my $WHERE = 'pkg_hash_fetch_best_installation_candidate';

sub best_by_name {
    my ($run, $name) = @_;
    my $entry = $run->{names}->get($name) or return;
    return best_candidate($run, { entry => $entry, accepts => sub { $_[0]{name} eq $name }, quiet => 0 });
}

sub best_candidate {
    my ($run, $wanted) = @_;
    my $entry = $wanted->{entry};
    return if !@{ $entry->{provided_by} };
    my @matching = matching_packages($run, $entry);
    return if !@matching;
    my $good = best_accepted($run, $wanted, @matching);
    my ($held, $upgrade);
    for my $package (@matching) {
        $upgrade = $package if $package->{entry}{state} =~ /^(installed|unpacked)\z/;
        next if !($package->{flags} & ($FLAG->{hold} | $FLAG->{prefer}));
        notice("Multiple packages ($held->{name} and $package->{name}) providing same name marked HOLD or PREFER. Using latest.\n") if $held;
        $held = $package;
    }
    my $only = @matching == 1 ? $matching[0] : undef;
    return $good // $held // $upgrade // $only // ($wanted->{quiet} ? undef : most_specific($run, @matching));
}

sub matching_packages {
    my ($run, $entry) = @_;
    my (@matching, $found_some);
    for my $provider (effective_providers(@{ $entry->{provided_by} })) {
        my $packages = $provider->{packages} or next;
        for my $package (@$packages) {
            next if !priority($run, $package) || grep { $_ == $package } @matching;
            push @matching, $package if !lacks_something($run, $package);
        }
        $found_some = 1 if @$packages && !@matching;
    }
    if (!@matching && $found_some) {
        failure($WHERE, "Packages for $entry->{name} found, but incompatible with the architectures configured");
    }
    return sort {
        $a->{name} cmp $b->{name} || compare_versions($a->{version}, $b->{version}) || priority($run, $a) <=> priority($run, $b)
    } @matching;
}

sub effective_providers {
    my (@providers) = @_;
    my @effective;
    for my $provider (@providers) {
        my $replacement = $provider->{replaced_by}[0];
        if (@{ $provider->{replaced_by} } > 1) {
            notice("Multiple replacers for $provider->{name}, using first one ($replacement->{name}).\n");
        }
        if (!$replacement || $replacement == $provider) { push @effective, $provider }
        elsif (!grep { $_ == $replacement } @providers) { push @effective, $replacement }
    }
    return @effective;
}

# The last of the best: those named on the command line come before others, a file given by hand ends the search.
sub best_accepted {
    my ($run, $wanted, @matching) = @_;
    my ($best, $best_score) = (undef, 0);
    for my $package (@matching) {
        next if !$wanted->{accepts}->($package);
        my $score = 1 + ($package->{name} eq $wanted->{entry}{name}) + !!(grep { $_ eq $package->{name} } @{ $run->{arguments} });
        next if $score < $best_score;
        ($best, $best_score) = ($package, $score);
        last if $package->{by_hand};
    }
    return $best;
}

sub most_specific {
    my ($run, @matching) = @_;
    my $best;
    for my $package (@matching) {
        $best = $package if priority($run, $package) > ($best ? priority($run, $best) : 0);
    }
    return $best;
}

sub lacks_something {
    my ($run, $package) = @_;
    my ($unresolved) = missing_packages($run, { package => $package, mark => 'looked_at', found => [] });
    failure('pkg_hash_check_unresolved', "cannot find dependency $_ for $package->{name}") for @$unresolved;
    return @$unresolved > 0;
}

# Adds the packages that have to be installed first to the query's `found`, and returns the names nobody has. The mark
# keeps a name from being looked at twice.
sub missing_packages {
    my ($run, $query) = @_;
    my $package = $query->{package};
    my @unresolved;
    return [] if $package->{entry}{ $query->{mark} };
    $package->{entry}{ $query->{mark} } = 1;
    for my $possibilities (@{ $package->{depends} // [] }) {
        next if first_satisfier($run, $possibilities, \&is_installed);
        my $satisfier = first_satisfier($run, $possibilities, sub { 1 });
        if (!$satisfier) {
            push @unresolved, dependency_text($possibilities);
        } elsif ($satisfier != $package && !grep { is_equal($_, $satisfier) } @{ $query->{found} }) {
            push @unresolved, @{ missing_packages($run, { %$query, package => $satisfier }) };
            push @{ $query->{found} }, $satisfier;
        }
    }
    return \@unresolved;
}

sub first_satisfier {
    my ($run, $possibilities, $condition) = @_;
    for my $possibility (@$possibilities) {
        my $accepts = sub { $condition->($_[0]) && satisfies($possibility, $_[0]) };
        my $entry = name_entry($run, $possibility->{name});
        my $package = best_candidate($run, { entry => $entry, accepts => $accepts, quiet => 1 });
        return $package if $package && $accepts->($package);
    }
    return;
}

# The version itself satisfies every relation, "earlier" and "later" too.
sub satisfies {
    my ($possibility, $package) = @_;
    my $relation = $possibility->{relation} or return 1;
    my $order = compare_versions($package->{version}, read_version($possibility->{version}));
    return $order == 0 || ($relation =~ /^</ && $order < 0) || ($relation =~ /^>/ && $order > 0);
}

sub is_equal {
    my ($left, $right) = @_;
    return $left->{name} eq $right->{name} && $left->{architecture} eq $right->{architecture}
        && compare_versions($left->{version}, $right->{version}) == 0;
}

sub conflicts_of {
    my ($run, $package) = @_;
    my %replaced = map { $_ => 1 } @{ $package->{replaces} // [] };
    my @found;
    for my $possibility (map { @$_ } @{ $package->{conflicts} // [] }) {
        for my $other (@{ name_entry($run, $possibility->{name})->{packages} // [] }) {
            next if $other->{state} ne 'installed' && $other->{want} ne 'install';
            next if !satisfies($possibility, $other) || $replaced{ $other->{name} };
            push @found, $other if !grep { is_equal($_, $other) } @found;
        }
    }
    return @found;
}

1;
