package compiled;

# The compiled half of a module of perl's own, without the half in perl, which takes longer to load than a stand-in runs.
# Its functions are called by their full names.
use strict;

sub import {
    my (undef, @modules) = @_;
    load($_) for @modules;
}

sub load {
    my ($module) = @_;
    my $start = "${module}::bootstrap";
    return if defined &$start;
    my $path = $module =~ s{::}{/}gr;
    my $name = $module =~ s{.*::}{}r;
    my ($file) = grep { -f } map { "$_/auto/$path/$name.so" } @INC;
    DynaLoader::boot_DynaLoader('DynaLoader') if !defined &DynaLoader::dl_load_file;
    my $library = DynaLoader::dl_load_file($file, 0) // die DynaLoader::dl_error();
    my $boot = DynaLoader::dl_find_symbol($library, 'boot_' . $module =~ s/\W/_/gr);
    DynaLoader::dl_install_xsub($start, $boot, $file)->($module);
}

1;
