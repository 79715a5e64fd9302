// Install-models is the part of set-up that puts the catalogue's models in
// place. It needs no C library, so that it can run before there is one.
//
//	install-models ROOT           print the names of the models that ROOT lacks
//	install-models ROOT SOURCES   install each of them from SOURCES/NAME
//
// A model that is there but damaged, or that is not the catalogue's, counts as
// lacking.
package main
