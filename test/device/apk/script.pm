package apk::script;

# Scripts of packages, triggers and the owner's commit hooks. What they print comes line by line; apk
# waits until nobody has their output open any more. A script that fails marks its package.
use strict;
use exports qw(run_script run_triggers run_hooks);
use apk::database;
use apk::messages;
use apk::package;
use compiled;

my $F_SETFD = 2;

# The arguments are versions. Returns whether it went well; a script that is not there does.
sub run_script {
    my ($run, $package, $type, @arguments) = @_;
    my $script = $package->{record}{scripts}{$type};
    return 1 if !defined $script || $run->{simulate} || defined $run->{scripts} && !$run->{scripts};
    my $indent = $type eq 'trigger' ? '' : '  ';
    message($indent . 'Executing ' . label($package) . ".$type");
    my $is_good = run_program($run, {
        type => $type, package => $package->{name}, prefix => "$indent* ", arguments => \@arguments,
        name => 'lib/apk/exec/' . label($package) . ".$type", content => $script,
    });
    $package->{record}{flags}{s} = 1 if !$is_good;
    return $is_good;
}

sub run_program {
    my ($run, $program) = @_;
    my $file = defined $program->{content} ? nameless_file($program->{content}) : undef;
    my $path = $file ? '/proc/self/fd/' . fileno $file : "$run->{root}/$program->{name}";
    pipe(my $output, my $output_end) && pipe(my $errors, my $errors_end) && pipe(my $input, my $input_end) or return 0;
    my $child = fork // return 0;
    if (!$child) {
        chdir($run->{root} || '/');
        umask 0022;
        open(STDIN, '<&', $input);
        open(STDOUT, '>&', $output_end);
        open(STDERR, '>&', $errors_end);
        close $_ for $input_end, $output, $errors;
        $ENV{PATH} = '/usr/sbin:/usr/bin:/sbin:/bin' if !$run->{preserve_env};
        my %kept = map { $_ => $ENV{$_} } $run->{preserve_env} ? grep { !/^APK_/ } keys %ENV : 'PATH';
        %ENV = (%kept, APK_SCRIPT => $program->{type});
        $ENV{APK_PACKAGE} = $program->{package} if defined $program->{package};
        { local $^W = 0; exec { $path } $program->{name}, @{ $program->{arguments} }; }
        compiled::load('POSIX');
        POSIX::_exit(127);
    }
    close $_ for $input, $input_end, $output_end, $errors_end;
    forward(\$program->{prefix}, $output, $errors);
    waitpid $child, 0;
    return 1 if $? == 0;
    my $signal = $? & 127;
    failure("$program->{name}: " . ($signal ? "killed by signal $signal" : 'exited with error ' . ($? >> 8)));
    return 0;
}

# As with the real program nothing of the script lies on the device's disk, which may be full.
sub nameless_file {
    my ($content) = @_;
    my $path = "/tmp/apk-script.$$";
    open(my $writer, '>:raw', $path) or return;
    print $writer $content;
    chmod 0700, $writer;
    close $writer;
    open(my $reader, '<', $path) or return;
    unlink $path;
    fcntl($reader, $F_SETFD, 0);
    return $reader;
}

sub forward {
    my ($prefix, @pipes) = @_;
    my %rest = map { $_ => '' } @pipes;
    my %target = ($pipes[0] => \*STDOUT, $pipes[1] => \*STDERR);
    while (@pipes) {
        my $ready = '';
        vec($ready, fileno $_, 1) = 1 for @pipes;
        next if select($ready, undef, undef, undef) < 1;
        my @readable = grep { vec $ready, fileno $_, 1 } @pipes;
        for my $pipe (@readable) {
            my $count = sysread $pipe, $rest{$pipe}, 65536, length $rest{$pipe};
            next if !defined $count;
            print_prefixed($target{$pipe}, $prefix, $1) while $rest{$pipe} =~ s/\A([^\n]*)\n//;
            next if $count;
            print_prefixed($target{$pipe}, $prefix, $rest{$pipe}) if length $rest{$pipe};
            @pipes = grep { $_ != $pipe } @pipes;
        }
    }
}

# The prefix of a hook names it in a line of its own, the first time.
sub print_prefixed {
    my ($target, $prefix, $line) = @_;
    $$prefix =~ s/\A(.*\n)//s and my $head = $1;
    return if $target == \*STDOUT && apk::messages::is_quiet();
    apk::messages::write_line($target, ($head // '') . "$$prefix$line\n");
}

# For each package with patterns the folders that changed; for one that is new all that there are.
# Returns how many failed.
sub run_triggers {
    my ($run, @packages) = @_;
    return 0 if $run->{simulate};
    my $errors = 0;
    for my $package (grep { @{ $_->{record}{triggers} // [] } } @packages) {
        my @folders = matching_folders($run, $package);
        $errors++ if @folders && !run_script($run, $package, 'trigger', @folders);
    }
    return $errors;
}

sub matching_folders {
    my ($run, $package) = @_;
    my @patterns = map { pattern($_) } @{ $package->{record}{triggers} };
    my %folders = %{ $run->{changed_folders} // {} };
    if ($package->{is_new}) {
        for my $other (values %{ $run->{installed} }) { $folders{ $_->{name} } = 1 for @{ $other->{record}{folders} } }
    }
    return grep { my $folder = $_; grep { $folder =~ $_ } @patterns } sort map { "/$_" } keys %folders;
}

sub pattern {
    my ($glob) = @_;
    my $pattern = join '', map { $_ eq '*' ? '[^/]*' : $_ eq '?' ? '[^/]' : quotemeta } split //, $glob;
    return qr/\A$pattern\z/;
}

# A hook that fails before the commit stops it.
sub run_hooks {
    my ($run, $type) = @_;
    return 1 if $run->{simulate} || defined $run->{scripts} && !$run->{scripts};
    my $is_good = 1;
    for my $path (visible_files("$run->{root}/etc/apk/commit_hooks.d")) {
        my ($name) = $path =~ m{([^/]+)\z};
        $is_good = 0 if !run_program($run, {
            type => $type, prefix => "Executing $type $name\n* ", arguments => [$type], name => "etc/apk/commit_hooks.d/$name",
        });
    }
    return $type ne 'pre-commit' || $is_good;
}

1;
