"""iron"""
