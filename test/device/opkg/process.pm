package opkg::process;

# Other programs: maintainer scripts, the signature check, wget for what http.pm cannot do.
use strict;
use exports qw(run_program run_script start_intercepts finish_intercepts);
use opkg::messages;

my $NOT_STARTED = 255;

# The exit code, or -1 after a signal. Unlike perl's own system() this leaves SIGINT to reach opkg while it waits.
sub run_program {
    my (@words) = @_;
    my $child = fork // return -1;
    if (!$child) {
        $SIG{INT} = 'DEFAULT';
        { local $^W = 0; exec { $words[0] } @words; }
        exit $NOT_STARTED;
    }
    waitpid $child, 0;
    my $signal = $? & 127;
    return $? >> 8 if !$signal;
    failure('xsystem', "$words[0]: Child killed by signal $signal.");
    return -1;
}

# With an offline root, scripts are left out; forced, they run on the host, told of the root by PKG_ROOT only.
sub run_script {
    my ($run, $package, $call) = @_;
    return 0 if $run->{noaction} || defined $run->{offline_root} && !$run->{force_postinstall};
    my ($script, $arguments) = @$call;
    my $path = script_path($package, $script) // return -1;
    $ENV{PKG_ROOT} = ($package->{dest} // $run->{default_destination})->{root};
    $ENV{PKG_UPGRADE} = $package->{is_upgrade} ? 1 : 0;
    return 0 if !-e $path;
    my $code = run_program('/bin/sh', '-c', "$path $arguments");
    failure('pkg_run_script', "package \"$package->{name}\" $script script returned status $code.") if $code;
    return $code;
}

sub script_path {
    my ($package, $script) = @_;
    if ($package->{state} =~ /^(installed|unpacked|half-installed)\z/) { return "$package->{dest}{info}/$package->{name}.$script" }
    return "$package->{unpacked}/$script" if defined $package->{unpacked};
    failure('pkg_run_script', "Internal error: $package->{name} has a NULL tmp_unpack_dir.");
    return;
}

# While packages are configured, programs in opkg's own folder stand in front of those of the system, and may leave
# scripts to be run once at the end.
sub start_intercepts {
    my ($run) = @_;
    my $state = "$run->{tmp_dir}/opkg-intercept";
    mkdir $state, 0700;
    my $path = $ENV{PATH};
    $ENV{OPKG_INTERCEPT_DIR} = $state;
    $ENV{PATH} = '/usr/share/opkg/intercept:' . ($path // '/usr/sbin:/usr/bin:/sbin:/bin');
    return { state => $state, path => $path };
}

sub finish_intercepts {
    my ($intercepts) = @_;
    defined $intercepts->{path} ? $ENV{PATH} = $intercepts->{path} : delete $ENV{PATH};
    opendir(my $listing, $intercepts->{state}) or return;
    for (grep { !/^\./ } readdir $listing) {
        run_program('/bin/sh', '-c', "$intercepts->{state}/$_") if -x "$intercepts->{state}/$_";
    }
}

1;
