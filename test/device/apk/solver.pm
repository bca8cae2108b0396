package apk::solver;

# Chooses a provider for every name that world needs, directly or through others. A choice is made
# with all demands in view that the last round's choices made, and the rounds end when one changes
# nothing. A package that asks for what cannot be had together with the rest is banned, if its name
# has other versions, and the rounds begin anew.
use strict;
use exports qw(solve chosen_provider is_usable masking_tags);
use apk::catalogue;
use apk::dependency;
use apk::package;
use apk::version;

my $MOST_ROUNDS = 100;

# { chosen => { name => package }, errors => [ { kind, … } ] }. `flags` by name: upgrade, remove.
sub solve {
    my ($run, $world, $flags) = @_;
    my $state = { run => $run, flags => $flags, banned => {}, chosen => {} };
    $state->{world} = [grep { !$_->{broken} } sort { $a->{name} cmp $b->{name} } @$world];
    for (1 .. $MOST_ROUNDS) {
        my $before = fingerprint($state);
        $state->{demands} = collect_demands($state);
        $state->{last} = $state->{chosen};
        $state->{chosen} = {};
        choose_for($state, $_, undef) for grep { !$_->{conflict} } @{ $state->{world} };
        next if fingerprint($state) ne $before;
        $state->{demands} = collect_demands($state);
        last if !ban_one($state);
    }
    return { chosen => $state->{chosen}, errors => find_errors($state), state => $state };
}

sub fingerprint {
    my ($state) = @_;
    my $chosen = $state->{chosen};
    return join ' ', map { "$_=" . label($chosen->{$_}) . $chosen->{$_}{identity} } sort keys %$chosen;
}

# What world and the chosen packages want of each name: [dependency, requirer].
sub collect_demands {
    my ($state) = @_;
    my %demands;
    push @{ $demands{ $_->{name} } }, [$_, undef] for @{ $state->{world} };
    for my $package (map { $state->{chosen}{$_} } sort keys %{ $state->{chosen} }) {
        push @{ $demands{ $_->{name} } }, [$_, $package] for @{ $package->{depends} // [] };
    }
    return \%demands;
}

sub choose_for {
    my ($state, $dependency, $requirer) = @_;
    return if chosen_provider($state, $dependency->{name});
    my $package = best_provider($state, $dependency->{name}) or return;
    return if $state->{chosen}{ $package->{name} };
    $state->{chosen}{ $package->{name} } = $package;
    choose_for($state, $_, $package) for needs($package);
}

# Of the chosen packages the one that provides the name.
sub chosen_provider {
    my ($state, $name) = @_;
    for (providers_of($state->{run}, $name)) {
        my $chosen = $state->{chosen}{ $_->{package}{name} } // next;
        return $_ if $chosen == $_->{package};
    }
    return;
}

sub best_provider {
    my ($state, $name) = @_;
    my @all = grep { is_eligible($state, $_) } providers_of($state->{run}, $name);
    my @usable = grep { is_installable($state, $_->{package}, {}) && !$state->{banned}{ $_->{package} } } @all;
    my ($best, $best_rank);
    for my $provider (@usable ? @usable : @all) {
        my $rank = rank($state, $name, $provider);
        next if $best && compare_ranks($rank, $best_rank) <= 0;
        ($best, $best_rank) = ($provider, $rank);
    }
    return $best ? $best->{package} : undef;
}

# A virtual name is taken only from a package that has a priority or is needed for itself.
sub is_eligible {
    my ($state, $provider) = @_;
    return defined $provider->{version} || $provider->{package}{priority} || is_wanted($state, $provider->{package});
}

sub is_wanted {
    my ($state, $package) = @_;
    return grep { !$_->[0]{conflict} } @{ $state->{demands}{ $package->{name} } // [] };
}

# Whether the machine and its feeds can have the package, and each of its dependencies from somebody.
sub is_installable {
    my ($state, $package, $seen) = @_;
    my $known = $state->{installable}{$package};
    return $known if defined $known;
    return 1 if $seen->{$package}++;
    my $run = $state->{run};
    my $is_good = is_usable($run, $package) && !masking_tags($state, $package);
    for my $dependency (needs($package)) {
        last if !$is_good;
        $is_good = grep { satisfies($dependency, $_, $package) && is_installable($state, $_->{package}, $seen) }
            providers_of($run, $dependency->{name});
    }
    return $state->{installable}{$package} = $is_good ? 1 : 0;
}

# The tags of what only feeds with a tag have, and world does not ask for with one. The real program
# lets it in also for what needs it and was asked for so.
sub masking_tags {
    my ($state, $package) = @_;
    return if $package->{record} || defined $package->{file};
    my @feeds = feeds_of($state->{run}, $package);
    return if grep { $_->{tags}{''} } @feeds;
    my @asked = map { $_->{tag} // () } grep { $_->{name} eq $package->{name} } @{ $state->{world} };
    my %tags = map { $_ => 1 } map { keys %{ $_->{tags} } } @feeds;
    return if grep { $tags{$_} } @asked;
    my @sorted = sort keys %tags;
    return @sorted;
}

sub is_usable {
    my ($run, $package) = @_;
    return 0 if !$run->{accepted}{ $package->{architecture} // 'noarch' };
    return $package->{record} || defined $package->{file} || defined $package->{cached}
        || !($package->{installed_size} // 0) || is_available($run, $package);
}

# Compared from the first number to the last; a text is a version.
sub rank {
    my ($state, $name, $provider) = @_;
    my $package = $provider->{package};
    my $flag = $state->{flags}{ $package->{name} } // $state->{flags}{''} // '';
    my $is_installed = $package->{record} ? 1 : 0;
    my $unmet = unmet_demands($state, $package);
    my @feeds = sort { $a <=> $b } keys %{ $package->{feeds} };
    return [
        -$unmet,
        $flag eq 'available' ? (is_available($state->{run}, $package) ? 1 : 0) : 0,
        is_wanted($state, $package) ? 1 : 0,
        $flag eq '' ? $is_installed : 0,
        $provider->{version} // '0',
        $package->{version},
        $package->{priority} // 0,
        $flag eq 'remove' ? 0 : $is_installed,
        -($feeds[0] // 99),
    ];
}

sub compare_ranks {
    my ($left, $right) = @_;
    for my $at (0 .. $#$left) {
        my $order = $at == 4 || $at == 5
            ? compare_versions($left->[$at], $right->[$at])
            : $left->[$at] <=> $right->[$at];
        return $order if $order;
    }
    return 0;
}

# How many of the demands on its names the package does not meet; another provider of one of its names
# that is there with a version counts, too.
sub unmet_demands {
    my ($state, $package) = @_;
    my $count = 0;
    for (provided_names($package)) {
        my ($name, $version) = @$_;
        my $provider = { package => $package, version => $version };
        $count += grep { !satisfies($_->[0], $provider, $_->[1]) } @{ $state->{demands}{$name} // [] };
        $count += is_taken($state, $name, $provider);
    }
    return $count;
}

sub is_taken {
    my ($state, $name, $provider) = @_;
    for my $other (providers_of($state->{run}, $name)) {
        next if $other->{package}{name} eq $provider->{package}{name};
        next if !defined $other->{version} && !defined $provider->{version};
        my $chosen = $state->{last}{ $other->{package}{name} };
        return 1 if $chosen && $chosen == $other->{package} && is_only_choice($state, $chosen);
    }
    return 0;
}

# Whether something asks for the package's own name that no other could give.
sub is_only_choice {
    my ($state, $package) = @_;
    my @others = grep { $_->{package}{name} ne $package->{name} } providers_of($state->{run}, $package->{name});
    for my $demand (grep { !$_->[0]{conflict} } @{ $state->{demands}{ $package->{name} } // [] }) {
        return 1 if !grep { satisfies($demand->[0], $_, $demand->[1]) } @others;
    }
    return 0;
}

# After rounds that changed nothing more: one package whose demand is not met and that has another
# version to be tried.
sub ban_one {
    my ($state) = @_;
    for my $fault (grep { $_->{requirer} } @{ find_errors($state) }) {
        my $package = $fault->{requirer};
        next if grep { $_->[0]{operator} =~ /=|></ && !$_->[1] } @{ $state->{demands}{ $package->{name} } // [] };
        my @others = grep { $_->{package} != $package } providers_of($state->{run}, $package->{name});
        next if !grep { !$state->{banned}{ $_->{package} } && is_installable($state, $_->{package}, {}) } @others;
        return $state->{banned}{$package} = 1;
    }
    return 0;
}

# What is not met: { name, requirer, provider }; packages that nobody could use: { name, unusable }.
sub find_errors {
    my ($state) = @_;
    my @errors;
    my @demands = map { @{ $state->{demands}{$_} } } sort keys %{ $state->{demands} };
    for (@demands) {
        my ($dependency, $requirer) = @$_;
        my $provider = chosen_provider($state, $dependency->{name});
        next if satisfies($dependency, $provider, $requirer);
        push @errors, { name => $dependency->{name}, requirer => $requirer, provider => $provider };
    }
    for my $package (values %{ $state->{chosen} }) {
        push @errors, { name => $package->{name}, unusable => $package }
            if !is_usable($state->{run}, $package) || masking_tags($state, $package);
    }
    return [@errors, shared_names($state)];
}

# Two chosen packages that provide one name, not both without a version.
sub shared_names {
    my ($state) = @_;
    my @errors;
    my %first;
    for my $package (map { $state->{chosen}{$_} } sort keys %{ $state->{chosen} }) {
        for (provided_names($package)) {
            my ($name, $version) = @$_;
            my $other = $first{$name} //= { package => $package, version => $version };
            next if $other->{package} == $package || !defined $other->{version} && !defined $version;
            push @errors, { name => $name, shared => [$other->{package}, $package] };
        }
    }
    return @errors;
}

1;
