package apk::change;

# The commands that change something. Each makes a new world and leaves the rest to the solver.
use strict;
use apk::catalogue;
use apk::database;
use apk::dependency;
use apk::messages;
use apk::package;
use apk::repositories;
use later 'apk::commit' => qw(commit_world commit_plan);
use later 'apk::download' => 'download';
use later 'apk::package_file' => 'read_package';
use later 'apk::solver' => qw(solve chosen_provider);
use later 'apk::solver_errors' => 'print_solver_errors';

sub add {
    my ($run, @arguments) = @_;
    my @asked = map { asked_for($run, $_) } @arguments;
    @asked = (virtual_package($run, @asked)) if defined $run->{virtual};
    my @world = @{ $run->{world} };
    for my $dependency (@asked) { @world = ((grep { $_->{name} ne $dependency->{name} } @world), $dependency) }
    my %flags = $run->{upgrade} ? map { $_->{name} => 'upgrade' } @asked : ();
    return commit_world($run, \@world, \%flags);
}

# A word with a dot that names a file is a package file, whose identity world then asks for.
sub asked_for {
    my ($run, $word) = @_;
    if ($word =~ /\./ && -e $word) {
        my ($bytes, $error) = download($run, $word);
        my ($package, $fault) = defined $error ? (undef, $error) : read_package($bytes, $run);
        give_up("$word: $fault") if !$package;
        $package = add_package($run, $package);
        $package->{file} = $word;
        return { name => $package->{name}, operator => '><', version => $package->{identity}, conflict => 0 };
    }
    my $dependency = parse_dependency($word);
    return $dependency if $dependency && !$dependency->{broken};
    give_up("'$word' is not a valid world dependency, format is name(\@tag)([<>~=]version)");
}

sub virtual_package {
    my ($run, @depends) = @_;
    my $version = timestamp('%04d%02d%02d.%02d%02d%02d', gmtime);
    add_package($run, {
        name => $run->{virtual}, version => $version, identity => 'Q1' . 'A' x 27 . '=', architecture => 'noarch',
        installed_size => 0, size => 0, description => 'virtual meta package', depends => \@depends, cached => '',
    });
    return { name => $run->{virtual}, operator => '=', version => $version, conflict => 0 };
}

sub del {
    my ($run, @names) = @_;
    my @unknown = unknown_names($run, @names);
    if (@unknown) { failure("No such package: $_") for @unknown; return scalar @unknown }
    my @world = @{ $run->{world} };
    my %flags;
    for my $name (@names) {
        for my $gone ($run->{rdepends} ? with_dependents($run, $name) : $name) {
            # Only once: what stands in world twice stays.
            my ($line) = grep { $world[$_]{name} eq $gone } 0 .. $#world;
            splice @world, $line, 1 if defined $line;
            $flags{$gone} = 'remove';
        }
    }
    $run->{next_world} = \@world;
    my $solution = solve($run, \@world, \%flags);
    return print_solver_errors($run, $solution) if @{ $solution->{errors} };
    tell_what_stays($run, $solution, @names);
    return commit_plan($run, $solution);
}

sub with_dependents {
    my ($run, $name) = @_;
    my %found = ($name => 1);
    my @pending = ($name);
    while (defined(my $next = shift @pending)) {
        for my $package (installed_packages($run)) {
            next if $found{ $package->{name} } || !grep { $_->{name} eq $next } needs($package);
            $found{ $package->{name} } = 1;
            push @pending, $package->{name};
        }
    }
    return sort keys %found;
}

# Of each name that stays: what of world leads to it.
sub tell_what_stays {
    my ($run, $solution, @names) = @_;
    my %is_asked = map { $_->{name} => 1 } grep { !$_->{conflict} } @{ $run->{next_world} };
    my $is_first = 1;
    for my $name (sort @names) {
        my $provider = chosen_provider($solution->{state}, $name) or next;
        next if grep { $_->{conflict} && $_->{name} eq $name } @{ $run->{world} };
        my @reasons = reasons_for($solution, $provider->{package}, {}, \%is_asked);
        message('World updated, but the following packages are not removed due to:') if $is_first;
        message("  $name: @reasons");
        $is_first = 0;
    }
    message('') if !$is_first;
}

sub reasons_for {
    my ($solution, $package, $seen, $is_asked) = @_;
    return () if $seen->{ $package->{name} }++;
    my @reasons = grep { $is_asked->{$_} } map { $_->[0] } provided_names($package);
    for my $other (map { $solution->{chosen}{$_} } sort keys %{ $solution->{chosen} }) {
        my @needs = map { chosen_provider($solution->{state}, $_->{name}) // () } needs($other);
        push @reasons, reasons_for($solution, $other, $seen, $is_asked) if grep { $_->{package} == $package } @needs;
    }
    return @reasons;
}

sub upgrade {
    my ($run, @names) = @_;
    if (($run->{unavailable} || $run->{stale}) && !$run->{force_missing_repositories}) {
        give_up('Not continuing due to stale/unavailable repositories. Use --force-missing-repositories to continue.');
    }
    my $flag = $run->{only_available} ? 'available' : 'upgrade';
    my %flags = @names ? map { $_ => $flag } @names : ('' => $flag);
    my @unknown = unknown_names($run, @names);
    if (@unknown) { failure("Package '$_' not found") for @unknown; return scalar @unknown }
    return commit_world($run, $run->{world}, \%flags);
}

# Names that stand nowhere: neither in world, nor as a package's own or provided name, nor in what a
# package needs. One that stands somewhere is no error, installed or not.
sub unknown_names {
    my ($run, @names) = @_;
    my %known = map { $_ => 1 } all_names($run);
    $known{ $_->{name} } = 1 for map { @{ $_->{depends} // [] } } values %{ $run->{packages} };
    $known{ $_->{name} } = 1 for @{ $run->{world} };
    return grep { !$known{$_} } @names;
}

sub fix {
    my ($run, @names) = @_;
    my @unknown = unknown_names($run, @names);
    if (@unknown) { failure("Package '$_' not found") for @unknown; return scalar @unknown }
    my @broken = grep { $_->{record}{flags}{f} || $_->{record}{flags}{s} } installed_packages($run);
    return commit_world($run, $run->{world}, {}, { map { $_ => 1 } @names ? @names : map { $_->{name} } @broken });
}

sub update {
    my ($run) = @_;
    my $problems = $run->{unavailable} + $run->{stale};
    message(" [$_->{url}]") for grep { $_->{is_open} } @{ $run->{feeds} };
    my $head = $problems ? "$run->{unavailable} unavailable, $run->{stale} stale;" : 'OK:';
    message("$head " . keys(%{ $run->{packages} }) . ' distinct packages available');
    return $problems;
}

sub cache {
    my ($run, $action, @further) = @_;
    not_acted_out("cache $action @further") if $action !~ /^(?:clean|purge)\z/ || @further;
    my %current = map { $_->{copy} => 1 } @{ $run->{feeds} };
    for my $path (visible_files(cache_folder($run))) {
        my $is_index = $path =~ /APKINDEX\.[0-9a-f]{8}\.tar\.gz\z/;
        unlink $path if $is_index ? !$current{$path} : $action eq 'purge' || $path !~ /\.apk\z/;
    }
    return 0;
}

1;
