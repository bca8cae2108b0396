package apk::solver_errors;

# What apk prints when a request cannot be met, and its exit code: who wants what, and who is in the
# way. The code counts missing names and packages that cannot be as they have to.
use strict;
use exports qw(print_solver_errors);
use apk::catalogue;
use apk::dependency;
use apk::messages;
use apk::package;
use apk::solver;

my $WIDTH = 50;

sub print_solver_errors {
    my ($run, $solution) = @_;
    failure('unable to select packages:');
    my $state = $solution->{state};
    my @errors = @{ $solution->{errors} };
    my %missing = map { $_->{name} => 1 } grep { !$_->{provider} && !$_->{shared} && !$_->{unusable} } @errors;
    my %broken = map { $_ => $_ } map { packages_in($_) } @errors;
    print_missing($run, $state, $_) for sort keys %missing;
    for my $package (in_order($state)) {
        print_broken($run, $state, $package, $solution->{errors}) if $broken{$package};
    }
    $broken{ $_->{requirer} } = $_->{requirer} for grep { $_->{requirer} } @errors;
    return keys(%missing) + count_spread($state, \%broken);
}

sub packages_in {
    my ($error) = @_;
    return $error->{unusable} if $error->{unusable};
    return $error->{shared} ? @{ $error->{shared} } : $error->{provider} ? $error->{provider}{package} : ();
}

# Chosen packages, each after those that it needs.
sub in_order {
    my ($state) = @_;
    my (%seen, @order);
    my $visit;
    $visit = sub {
        my ($dependency) = @_;
        my $provider = $dependency->{conflict} ? undef : chosen_provider($state, $dependency->{name});
        return if !$provider || $seen{ $provider->{package} }++;
        $visit->($_) for @{ $provider->{package}{depends} // [] };
        push @order, $provider->{package};
    };
    $visit->($_) for @{ $state->{world} };
    return @order;
}

# What needs a broken package is broken, too.
sub count_spread {
    my ($state, $broken) = @_;
    for my $package (in_order($state)) {
        my @needed = map { chosen_provider($state, $_->{name}) // () } needs($package);
        $broken->{$package} = $package if grep { $broken->{ $_->{package} } } @needed;
    }
    return scalar keys %$broken;
}

sub print_missing {
    my ($run, $state, $name) = @_;
    my @providers = map { $_->{package}{name} } providers_of($run, $name);
    if (@providers) {
        print_line("  $name (virtual):");
        print_line("    note: please select one of the 'provided by'", '          packages explicitly');
        print_group('    provided by:', @providers);
    } else {
        print_line("  $name (no such package):");
    }
    print_group('    required by:', demands($state, $name, sub { !$_[0][0]{conflict} }));
}

sub print_broken {
    my ($run, $state, $package, $errors) = @_;
    print_line('  ' . label($package) . ':');
    if (!$run->{accepted}{ $package->{architecture} // 'noarch' }) {
        print_line('    error: uninstallable', "    arch: $package->{architecture}");
    } elsif (!is_usable($run, $package)) {
        print_line('    masked in: --no-network');
    } elsif (my @tags = masking_tags($state, $package)) {
        print_line('    masked in: ' . join ' ', map { "\@$_" } @tags);
    }
    for my $error (grep { $_->{shared} && grep { $_ == $package } @{ $_->{shared} } } @$errors) {
        my ($other) = grep { $_ != $package } @{ $error->{shared} };
        my ($version) = map { $_->[1] // () } grep { $_->[0] eq $error->{name} } provided_names($other);
        print_group('    conflicts:', label($other) . "[$error->{name}" . (defined $version ? "=$version" : '') . ']');
    }
    my $provider = { package => $package, version => $package->{version} };
    my $is_met = sub { satisfies($_[0][0], $provider, $_[0][1]) };
    print_group('    breaks:', demands($state, $package->{name}, sub { !$is_met->($_[0]) }));
    my $counts = sub { !$_[0][0]{conflict} && $is_met->($_[0]) };
    print_group('    satisfies:', demands($state, $package->{name}, $counts));
}

sub demands {
    my ($state, $name, $condition) = @_;
    return map { demand_text($_) } grep { $condition->($_) } @{ $state->{demands}{$name} // [] };
}

sub demand_text {
    my ($dependency, $requirer) = @{ $_[0] };
    return ($requirer ? label($requirer) : 'world') . '[' . dependency_text($dependency) . ']';
}

sub print_group {
    my ($head, @items) = @_;
    return if !@items;
    my $line = $head;
    for my $item (@items) {
        if ($line ne $head && length("$line $item") > $WIDTH) { print_line($line); $line = ' ' x length $head }
        $line .= " $item";
    }
    print_line($line);
}

sub print_line { apk::messages::write_line(\*STDERR, "$_\n") for @_ }

1;
