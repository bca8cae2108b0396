package apk::plan;

# The changes from what is installed to what was chosen, in the order in which apk makes them: what a
# package needs comes before it, and what nobody needs any more goes as soon as the last one that
# needed it has gone or changed.
use strict;
use exports qw(plan_changes);
use apk::catalogue;
use apk::database;
use apk::package;

# { old, new, reinstall }: also those that stay as they are, whose marks count.
sub plan_changes {
    my ($run, $solution, $reinstall) = @_;
    my ($chosen, $state) = @$solution{qw(chosen state)};
    my $plan = { run => $run, chosen => $chosen, state => $state, reinstall => $reinstall,
        changes => [], placed => {}, removed => {}, needed => {} };
    my @installed = installed_packages($run);
    count_needs($plan, $_, 1) for @installed;
    for (grep { !$plan->{needed}{ $_->{name} } } @installed) { remove($plan, $_) }
    place_name($plan, $_->{name}) for grep { !$_->{conflict} } @{ $state->{world} };
    for my $package (@installed) {
        my $next = $chosen->{ $package->{name} };
        $next ? place($plan, $next) : remove($plan, $package);
    }
    return $plan->{changes};
}

sub count_needs {
    my ($plan, $package, $by) = @_;
    for my $provider (installed_needs($plan->{run}, $package)) { $plan->{needed}{ $provider->{name} } += $by }
}

# In the order of its dependencies.
sub installed_needs {
    my ($run, $package) = @_;
    my (%seen, @found);
    for my $name (map { $_->{name} } needs($package)) {
        my @others = grep { $_->{record} && $_ != $package } map { $_->{package} } providers_of($run, $name);
        push @found, grep { !$seen{$_}++ } @others;
    }
    return @found;
}

sub place_name {
    my ($plan, $name) = @_;
    for (grep { $_->{package}{record} } providers_of($plan->{run}, $name)) { remove($plan, $_->{package}) }
    my $provider = apk::solver::chosen_provider($plan->{state}, $name) or return;
    place($plan, $provider->{package});
}

sub place {
    my ($plan, $package) = @_;
    return if $plan->{placed}{ $package->{name} }++;
    for my $name (map { $_->[0] } provided_names($package)) {
        for (grep { $_->{package}{record} } providers_of($plan->{run}, $name)) { remove($plan, $_->{package}) }
    }
    for my $dependency (needs($package)) { place_name($plan, $dependency->{name}) }
    my $old = $plan->{run}{installed}{ $package->{name} };
    push @{ $plan->{changes} }, { old => $old, new => $package, reinstall => $plan->{reinstall}{ $package->{name} } };
    count_needs($plan, $package, 1);
    drop_needs($plan, $old) if $old;
}

# Those that need it go first. What is chosen, in whatever version, is no removal.
sub remove {
    my ($plan, $package) = @_;
    return if $plan->{chosen}{ $package->{name} } || $plan->{removed}{ $package->{name} }++;
    for my $other (installed_packages($plan->{run})) {
        remove($plan, $other) if grep { $_ == $package } installed_needs($plan->{run}, $other);
    }
    push @{ $plan->{changes} }, { old => $package, new => undef };
    drop_needs($plan, $package);
}

sub drop_needs {
    my ($plan, $package) = @_;
    for my $needed (installed_needs($plan->{run}, $package)) {
        remove($plan, $needed) if --$plan->{needed}{ $needed->{name} } <= 0;
    }
}

1;
