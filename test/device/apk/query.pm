package apk::query;

# `query`, as JSON only. With --recursive or --world it answers what the solver would choose, else what
# matches the names: of each name the latest, unless all are asked for.
use strict;
use apk::catalogue;
use apk::dependency;
use apk::messages;
use apk::package;
use apk::version;
use later 'apk::files' => qw(owner_of paths_of);
use later 'apk::look' => 'matches';
use later 'apk::solver' => 'solve';
use later 'apk::solver_errors' => 'print_solver_errors';

my @FIELDS = qw(package name version description arch license origin maintainer url build-time installed-size
    file-size provider-priority depends provides install-if repositories download-url reverse-depends
    reverse-install-if contents
    triggers scripts replaces status);
my %NEEDS_INSTALLED = map { $_ => 1 } qw(contents triggers scripts replaces status);

sub query {
    my ($run, @words) = @_;
    not_acted_out('query in another format than json') if ($run->{format} // '') ne 'json';
    not_acted_out("query --match $run->{match}") if ($run->{match} // 'name') !~ /^(?:name|provides|owner)\z/;
    my @fields = split /,/, $run->{fields} // 'package';
    @fields = @FIELDS if "@fields" eq 'all';
    my $is_solved = $run->{recursive} || $run->{only_world};
    my ($packages, $code) = $is_solved ? solved($run, @words) : ([matching($run, @words)], 0);
    my %wanted = map { $_ => 1 } @fields;
    my @objects = map { json_object($run, $_, \%wanted) } sorted(@$packages);
    print "[\n", @objects ? '  ' . join(', ', @objects) . "\n]\n" : "]\n";
    return $code if $code || ($run->{fields} // '') eq 'all';
    return grep({ $NEEDS_INSTALLED{$_} } @fields) && grep({ !$_->{record} } @$packages) ? 1 : 0;
}

sub sorted {
    return sort {
        lc $a->{name} cmp lc $b->{name} || $a->{name} cmp $b->{name}
            || compare_versions($a->{version}, $b->{version})
    } @_;
}

# Conflicts are left out: the real program ignores them here.
sub solved {
    my ($run, @words) = @_;
    my @world = $run->{only_world} ? @{ $run->{world} } : ();
    my $complaint = 'is not a valid world dependency, format is name(@tag)([<>~=]version)';
    push @world, map { parse_dependency($_) // give_up("'$_' $complaint") } @words;
    my $flags = $run->{only_available} ? { '' => 'available' } : {};
    my $solution = solve($run, [grep { !$_->{conflict} } @world], $flags);
    if (@{ $solution->{errors} }) { print_solver_errors($run, $solution); return ([], 0) }
    return ([values %{ $solution->{chosen} }], 0);
}

sub matching {
    my ($run, @words) = @_;
    my %found;
    for my $word (@words) {
        if (($run->{match} // '') eq 'owner') {
            my $owner = $word =~ m{^/(.+)} ? owner_of($run, $1) : undef;
            $found{$owner} = $owner if $owner;
            next;
        }
        my $dependency = parse_dependency($word) // next;
        for my $name (($run->{match} // 'name') eq 'provides' ? all_names($run) : names_like($run, $word, $dependency)) {
            $found{$_} = $_ for matching_name($run, $name, $dependency);
        }
    }
    return values %found;
}

sub names_like {
    my ($run, $word, $dependency) = @_;
    return grep { matches($word, $_) } all_names($run) if $word =~ /[*?]/;
    return $dependency->{name};
}

sub matching_name {
    my ($run, $name, $dependency) = @_;
    my $by_provides = ($run->{match} // '') eq 'provides';
    my %seen;
    my @packages = grep { !$seen{ $_->{package} }++ && $_->{package}{name} eq $name } providers_of($run, $name);
    my $is_any = $by_provides || $dependency->{name} =~ /[*?]/;
    @packages = map { $_->{package} } grep { $is_any || satisfies($dependency, $_) } @packages;
    @packages = grep { provides_like($_, $dependency->{name}) } @packages if $by_provides;
    @packages = grep { $_->{record} } @packages if $run->{only_installed};
    @packages = grep { is_available($run, $_) } @packages if $run->{only_available};
    @packages = grep { upgradable_from($run, $_) } @packages if $run->{only_upgradable};
    return @packages if $run->{all_matches} || @packages < 2;
    return (sort { compare_versions($b->{version}, $a->{version}) } @packages)[0];
}

sub provides_like {
    my ($package, $name) = @_;
    return grep { matches($name, $_->{name}) } @{ $package->{provides} // [] };
}

sub json_object {
    my ($run, $package, $wanted) = @_;
    my @lines;
    for my $field (grep { $wanted->{$_} } @FIELDS) {
        my $value = field_value($run, $package, $field) // next;
        push @lines, qq(    "$field": ) . json_value($value);
    }
    return "{\n" . join(",\n", @lines) . "\n  }";
}

sub json_value {
    my ($value) = @_;
    return $$value if ref $value eq 'SCALAR';
    return json_text($value) if !ref $value;
    return "[\n" . join(",\n", map { '      ' . json_text($_) } @$value) . (@$value ? "\n" : '') . '    ]';
}

sub json_text {
    my ($text) = @_;
    $text =~ s/(["\\])/\\$1/g;
    $text =~ s/([\x00-\x1f])/sprintf '\\u%04x', ord $1/ge;
    return qq("$text");
}

my %TEXT = (name => 'name', version => 'version', description => 'description', arch => 'architecture',
    license => 'licence', origin => 'origin', maintainer => 'maintainer', url => 'url');
my %NUMBER = ('build-time' => 'build_time', 'installed-size' => 'installed_size', 'file-size' => 'size',
    'provider-priority' => 'priority');
my %LIST = (depends => 'depends', provides => 'provides', 'install-if' => 'install_if');
my @SCRIPTS = qw(pre-install post-install pre-deinstall post-deinstall pre-upgrade post-upgrade trigger);
my %OTHER = (
    package => sub { label($_[1]) },
    repositories => \&repositories,
    'download-url' => \&download_url,
    'reverse-depends' => \&reverse_depends,
    'reverse-install-if' => sub { [] },
    contents => sub { [paths_of($_[1]{record})] },
    triggers => sub { some(@{ $_[1]{record}{triggers} // [] }) },
    scripts => sub { my $scripts = $_[1]{record}{scripts}; some(grep { exists $scripts->{$_} } @SCRIPTS) },
    replaces => sub { some(map { dependency_text($_) } @{ $_[1]{record}{replaces} // [] }) },
    status => sub {
        my $flags = $_[1]{record}{flags};
        ['installed', $flags->{f} ? 'broken-files' : (), $flags->{s} ? 'broken-script' : ()];
    },
);

# Text, a reference to a number, or a list; undef for what is not told.
sub field_value {
    my ($run, $package, $field) = @_;
    return if $NEEDS_INSTALLED{$field} && !$package->{record};
    if (my $key = $TEXT{$field}) { return length($package->{$key} // '') ? $package->{$key} : undef }
    if (my $key = $NUMBER{$field}) { my $number = $package->{$key}; return $number ? \$number : undef }
    if (my $key = $LIST{$field}) { return some(map { dependency_text($_) } @{ $package->{$key} // [] }) }
    return $OTHER{$field}->($run, $package);
}

sub some { return @_ ? [@_] : undef }

sub repositories {
    my ($run, $package) = @_;
    my @urls = map { $_->{url} } feeds_of($run, $package);
    return [$package->{record} ? 'lib/apk/db/installed' : (), @urls];
}

sub download_url {
    my ($run, $package) = @_;
    my ($feed) = feeds_of($run, $package);
    return $feed ? ($feed->{url} =~ s{[^/]*\z}{}r) . label($package) . '.apk' : undef;
}

sub reverse_depends {
    my ($run, $package) = @_;
    my %found;
    my %mine = map { $_->[0] => { package => $package, version => $_->[1] } } provided_names($package);
    for my $other (values %{ $run->{packages} }) {
        my @met = grep { $mine{ $_->{name} } && satisfies($_, $mine{ $_->{name} }) } needs($other);
        $found{ $other->{name} } = 1 if @met;
    }
    return [sort keys %found];
}

1;
