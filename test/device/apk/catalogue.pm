package apk::catalogue;

# All packages that apk has met, and who provides which name. The same build is one package, whether
# it is installed, offered by a feed, or both.
use strict;
use exports qw(create_catalogue add_package providers_of feeds_of is_available all_names upgradable_from);
use apk::package;

sub create_catalogue {
    my ($run) = @_;
    $run->{packages} = {};
    $run->{providers} = {};
    $run->{installed} = {};
}

# Returns the package that stands for it: itself, or the same one that was there.
sub add_package {
    my ($run, $package) = @_;
    my $key = join "\0", @$package{qw(name version identity)};
    my $known = $run->{packages}{$key};
    return $known if $known;
    $package->{feeds} //= {};
    $run->{packages}{$key} = $package;
    for (provided_names($package)) {
        my ($name, $version) = @$_;
        push @{ $run->{providers}{$name} }, { package => $package, version => $version };
    }
    return $package;
}

sub providers_of { return @{ $_[0]{providers}{ $_[1] } // [] } }

sub all_names { return sort keys %{ $_[0]{providers} } }

# The feeds that list the package, the first one first.
sub feeds_of { return map { $_[0]{feeds}[$_] } sort { $a <=> $b } keys %{ $_[1]{feeds} } }

# Whether a feed that can be asked has it. Without network only local ones can.
sub is_available {
    my ($run, $package) = @_;
    return grep { $_->{is_reachable} } feeds_of($run, $package);
}

# The installed package that this one is a later version of.
sub upgradable_from {
    my ($run, $package) = @_;
    my $installed = $run->{installed}{ $package->{name} };
    return if !$installed || $package->{record} || !is_available($run, $package);
    require apk::version;
    return apk::version::compare_versions($package->{version}, $installed->{version}) > 0 ? $installed : undef;
}

1;
